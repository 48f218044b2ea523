"""The demo corpus that ships with medcite: real PubMed records, their vectors, and questions to try."""

from medcite_ingestion.demo.corpus import (
    CORPUS_FILE,
    CORPUS_NAME,
    DEMO_DIR,
    demo_questions,
    demo_records,
    worked_example,
)
from medcite_ingestion.demo.loading import load_demo

__all__ = [
    "CORPUS_FILE",
    "CORPUS_NAME",
    "DEMO_DIR",
    "demo_questions",
    "demo_records",
    "load_demo",
    "worked_example",
]
