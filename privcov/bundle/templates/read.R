# This bundle in base R: source("PLACE/extras/read.R"), PLACE its folder. verify.py checks the numbers; this does not.
# lavaan::cfa(model, sample.cov = cov, sample.nobs = n_eff)    psych::fa(cov2cor(cov), nfactors = 2, n.obs = n_eff)
# Only for the estimates: tests and indices of fit do not hold under privacy noise, and reject true models.
BUNDLE <- tryCatch(dirname(dirname(normalizePath(sys.frame(1)$ofile))), error = function(e) getwd())
lines_of <- function(name) {
  place <- file.path(BUNDLE, name)
  read.csv(place, check.names = FALSE, colClasses = "character", na.strings = character(0), encoding = "UTF-8")
}
matrix_of <- function(name) {
  lines <- lines_of(file.path("matrices", paste0(name, ".csv")))
  matrix(as.numeric(as.matrix(lines[-1])), nrow(lines), dimnames = list(lines[[1]], names(lines)[-1]))
}
cov <- matrix_of("regular")  # positive definite
n <- lines_of("extras/rows.csv")
n_eff <- as.numeric(n$value[n$what == "n_eff"])
correlations <- type.convert(lines_of("extras/correlations.csv"), na.strings = "nan", as.is = TRUE)
message(lines_of("extras/about.csv")$about)
