"""The names of the five papers: author and year."""

AUTHORS = {
    1: "Wang, Xu & He 2019",
    2: "Su et al. 2019",
    3: "Wang et al. 2018",
    4: "Mathematics 2023",
    5: "Dong et al. 2022",
}
