# test_headwater.R FOLDER: the R package on a bundled spill; program.json is what the program says of it.
library(headwater)
folder <- commandArgs(trailingOnly = TRUE)[1]
readings_file <- file.path(folder, "readings.csv")
river <- suppressWarnings(hw_river(file.path(folder, "river.yaml")))

fails <- function(expression, sentence) {
  said <- tryCatch({
    expression
    "nothing"
  }, error = conditionMessage)
  if (!grepl(sentence, said, fixed = TRUE)) stop("'", said, "' instead of '", sentence, "'")
}

# The program's answer, to the bit.
estimate <- hw_identify(river, readings_file)
program <- headwater:::json_value(paste(readLines("program.json"), collapse = ""))
for (key in c("estimate", "interval", "candidates", "arrivals", "trust", "region")) {
  stopifnot(identical(estimate[[key]], program[[key]]))
}
stopifnot(estimate$version == as.character(packageVersion("headwater")))
stopifnot(grepl("90 % interval", format(estimate), fixed = TRUE), length(estimate$interval$location_m) == 2)

# Frames, in one piece or many, with texts for limits; the same bits.
frame <- hw_read(readings_file, river)
stopifnot(inherits(frame$time, "POSIXct"), nrow(frame) == estimate$readings)
run <- hw_run(river)
for (part in split(frame, rep(1:5, length.out = nrow(frame)))) hw_observe(run, part)
pieces <- hw_estimate(run)
stopifnot(identical(pieces$estimate, estimate$estimate), identical(pieces$interval, estimate$interval))
texts <- frame
texts$concentration_ug_l <- paste0(ifelse(frame$below_limit, "<", ""), format(frame$concentration_g_m3 * 1000, digits = 17))
texts$concentration_g_m3 <- texts$below_limit <- NULL
stopifnot(abs(hw_identify(river, texts)$estimate$location_m - estimate$estimate$location_m) < 1)

# Draws and bands.
draws <- hw_samples(run)
inside <- sum(draws$weight[draws$location_m >= estimate$interval$location_m[1] &
                             draws$location_m <= estimate$interval$location_m[2]])
stopifnot(abs(sum(draws$weight) - 1) < 1e-9, inside > 0.85, inside < 0.95)
band <- hw_predict(run, river$about$location_m[1], estimate$estimate$time_s + seq(0, 40000, length.out = 50))
stopifnot(nrow(band) == 50, all(band$lo <= band$mid), all(band$mid <= band$hi), max(band$mid) > 0)

# A river must not go before its run.
run <- hw_run(suppressWarnings(hw_river(file.path(folder, "river.yaml"))), "atgd", seed = 7)
invisible(gc())
hw_observe(run, frame)
stopifnot(hw_estimate(run)$seed == 7, "posterior" %in% names(hw_methods()))

# Errors say the sentences of the command line.
fails(hw_river("nowhere.yaml"), "nowhere.yaml: No such file")
fails(hw_run(river, "atdg"), "no method 'atdg'")
fails(hw_observe(run, data.frame(time_s = 1, sensor = "s77", concentration_g_m3 = 1)), "sensor 's77' is not in the river file")
fails(hw_observe(run, data.frame(time_s = 1, sensor = "s1", concentration_g_m3 = "high")), "'high', expected a number")
fails(hw_observe(run, data.frame(time_s = 1, sensor = "s1")), "no concentrations, expected one of the columns")
fails(hw_estimate(hw_run(river)), "not enough readings")
fails(hw_read("nowhere.csv", river), "nowhere.csv: No such file")
cat("ok\n")
