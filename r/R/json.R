# The library's own JSON as lists: objects by name, arrays of numbers as vectors, null as NULL.

json_value <- function(text) {
  tokens <- regmatches(text, gregexpr('"(\\\\.|[^"\\\\])*"|[][{}:,]|[^][{}:,"[:space:]]+', text))[[1]]
  at <- 1

  take <- function() {
    at <<- at + 1
    tokens[at - 1]
  }
  string <- function(token) {
    inner <- substr(token, 2, nchar(token) - 1)
    # The library escapes control characters, quotes and backslashes alone.
    inner <- gsub('\\"', '"', inner, fixed = TRUE)
    inner <- gsub("\\n", "\n", inner, fixed = TRUE)
    gsub("\\\\", "\\", inner, fixed = TRUE)
  }
  items <- function(end, one) {
    out <- list()
    while (tokens[at] != end) {
      out <- one(out)
      if (tokens[at] == ",") take()
    }
    take()
    out
  }
  value <- function() {
    token <- take()
    switch(token,
      "{" = items("}", function(out) {
        key <- string(take())
        take()
        out[key] <- list(value())
        out
      }),
      "[" = {
        found <- items("]", function(out) c(out, list(value())))
        scalar <- vapply(found, function(x) is.atomic(x) && length(x) == 1, TRUE)
        if (length(found) && all(scalar)) unlist(found) else found
      },
      "null" = NULL,
      "true" = TRUE,
      "false" = FALSE,
      if (startsWith(token, '"')) string(token) else as.double(token)
    )
  }
  value()
}
