"""The papers' own data sets: not shipped, read from a folder of files. Each module registers one, unlisted."""

from replication.sources import colon, ionosphere, microbiome, mnist, news, parkinsons

__all__ = ["colon", "ionosphere", "microbiome", "mnist", "news", "parkinsons"]
