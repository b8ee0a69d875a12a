# Where a river spill came from, when, how much, and how sure: the C library for R.

units_g_m3 <- c(concentration_g_m3 = 1, concentration_mg_l = 1, concentration_ug_l = 1e-3, concentration_ng_l = 1e-6)
units_s <- c(time_s = 1, time_min = 60, time_h = 3600)

# A river file. What is odd about it but usable is a warning.
hw_river <- function(path) {
  pointer <- .Call(hw_r_river, path.expand(path))
  for (sentence in attr(pointer, "warnings")) warning(sentence, call. = FALSE)
  structure(list(pointer = pointer, about = .Call(hw_r_river_describe, pointer)), class = "hw_river")
}

print.hw_river <- function(x, ...) {
  cat("<River ", x$about$name, ": ", length(x$about$sensor), " sensors>\n", sep = "")
  invisible(x)
}

# Readings of a file as a data frame: CSV, NDJSON, or a table of another program (columns, timezone: as on the command
# line). What was taken for what is a message.
hw_read <- function(path, river, columns = NULL, timezone = NULL) {
  found <- .Call(hw_r_read, path.expand(path), river$pointer, columns, timezone)
  for (sentence in found$notes) message("note: ", sentence)
  values <- found$values
  frame <- data.frame(time_s = values[, 1], sensor = river$about$sensor[values[, 2] + 1],
                      concentration_g_m3 = values[, 3], below_limit = values[, 4] != 0,
                      above_limit = values[, 5] != 0)
  if (!is.na(found$origin)) {
    frame$time_s <- as.POSIXct(found$origin + values[, 1], origin = "1970-01-01", tz = "UTC")
    names(frame)[1] <- "time"
  }
  frame
}

hw_run <- function(river, method = "posterior", seed = 1, level = 0.9, threads = 0) {
  if (!inherits(river, "hw_river")) stop("no river, expected one of hw_river()")
  structure(list(pointer = .Call(hw_r_run, river$pointer, method, seed, level, threads), river = river),
            class = "hw_run")
}

print.hw_run <- function(x, ...) {
  cat("<Run on ", x$river$about$name, ">\n", sep = "")
  invisible(x)
}

# Seconds on the clock of the run.
times_of <- function(run, frame) {
  for (name in names(units_s)) {
    if (!is.null(frame[[name]])) return(as.double(frame[[name]]) * units_s[[name]])
  }
  if (is.null(frame$time)) stop("no time, expected one of the columns time, time_s, time_min, time_h")
  if (!inherits(frame$time, "POSIXct")) stop("column time is no POSIXct, expected as.POSIXct(..., tz = ...)")
  unix_s <- as.double(frame$time)
  origin <- .Call(hw_r_origin, run$pointer, NA_real_)
  if (run$river$about$calendar) origin <- 0 else if (is.na(origin)) origin <- unix_s[1]
  .Call(hw_r_origin, run$pointer, origin)
  unix_s - origin
}

# Values with their limits: numbers, or texts such as "<0.02" and ">0.3".
values_of <- function(frame) {
  name <- intersect(names(units_g_m3), names(frame))
  if (length(name) == 0) stop("no concentrations, expected one of the columns ", toString(names(units_g_m3)))
  column <- frame[[name[1]]]
  text <- trimws(as.character(column))
  mark <- ifelse(is.na(text), "", substr(text, 1, 1))
  number <- suppressWarnings(as.double(ifelse(mark %in% c("<", ">"), substring(text, 2), text)))
  wrong <- which(is.na(number) & !is.na(text) & !(text %in% c("", "NaN", "NA")))
  if (length(wrong)) stop("row ", wrong[1], ": ", name[1], " '", text[wrong[1]], "', expected a number")
  if (is.double(column)) number <- column
  flag <- function(key) if (is.null(frame[[key]])) rep(FALSE, nrow(frame)) else as.logical(frame[[key]])
  list(value = number * units_g_m3[[name[1]]], below = mark == "<" | flag("below_limit"),
       above = mark == ">" | flag("above_limit"))
}

# Readings as a data frame with the columns of a readings file, one piece after the other.
hw_observe <- function(run, readings) {
  ids <- run$river$about$sensor
  place <- match(as.character(readings$sensor), ids)
  if (is.null(readings$sensor) || anyNA(place)) {
    strange <- if (is.null(readings$sensor)) "" else as.character(readings$sensor)[is.na(place)][1]
    stop("sensor '", strange, "' is not in the river file, expected one of: ", toString(ids))
  }
  values <- values_of(readings)
  .Call(hw_r_observe, run$pointer, times_of(run, readings), place, values$value, values$below, values$above)
  invisible(run)
}

# What is known after the readings so far: a list with every key of the JSON object headwater.estimate/1.
hw_estimate <- function(run) {
  said <- .Call(hw_r_estimate, run$pointer)
  structure(json_value(said[1]), words = said[2], class = "hw_estimate")
}

format.hw_estimate <- function(x, ...) attr(x, "words")

print.hw_estimate <- function(x, ...) {
  cat(format(x))
  invisible(x)
}

# Weighted draws of everything unknown, a data frame.
hw_samples <- function(run, most = 10000) as.data.frame(.Call(hw_r_samples, run$pointer, most))

# lo, mid and hi of the concentration (g/m3) at one place and these times, a data frame.
hw_predict <- function(run, location_m, time_s) {
  as.data.frame(.Call(hw_r_predict, run$pointer, as.double(location_m), as.double(time_s)))
}

# The estimate after all readings of a data frame or a file.
hw_identify <- function(river, readings, method = "posterior", ...) {
  if (is.character(readings)) readings <- hw_read(readings, river)
  run <- hw_run(river, method, ...)
  hw_observe(run, readings)
  hw_estimate(run)
}

hw_methods <- function() .Call(hw_r_methods)
