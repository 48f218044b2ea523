"""What a person typed, made fit to search with, and its content words."""

from __future__ import annotations

import unicodedata

from medcite_core.errors import InvalidInput
from medcite_core.stemming import stem_words

MAX_QUERY_CHARS = 2000

# Words that ask or join rather than name something. They are left out when a passage's coverage of a question is
# measured; the engine sees the whole question.
_FUNCTION_WORDS = (
    "a about above after again against all also am an and any are aren't as at be because been before being below "
    "between both but by can can't cannot could couldn't did didn't do does doesn't doing don't down during each "
    "either else ever few for from further get give had has hasn't have haven't having he her here hers him his "
    "how however i if in into is isn't it its itself just know known let list many may me might mine more most "
    "much must my name neither no nor not of off on once one only or other our out over own per please same say "
    "shall she should show so some such tell than that the their them then there these they this those through to "
    "too under until up upon us use used using very via was wasn't we were weren't what what's when where whether "
    "which while who whom whose why will with within without would you your"
)
_FUNCTION_STEMS = frozenset(stem_words(_FUNCTION_WORDS))


def clean_query(text: str) -> str:
    """The query without control and invisible characters, white space collapsed.

    Raises:
        InvalidInput: nothing with a letter or digit is left, or it is longer than 2,000 characters.
    """
    if len(text) > MAX_QUERY_CHARS:
        raise InvalidInput(
            f"the question has {len(text):,} characters; at most {MAX_QUERY_CHARS:,} are searched",
            "Shorten it to the question itself.",
        )
    # Cc: control, Cf: invisible format, Cs: half of a broken pair, Cn: no character at all.
    kept = (_visible(character) for character in unicodedata.normalize("NFC", text))
    cleaned = " ".join("".join(kept).split())
    if not any(character.isalnum() for character in cleaned):
        raise InvalidInput("the question holds no words to search for", "Type a question, or a few key words.")
    return cleaned


def content_words(query: str) -> dict[str, str]:
    """The words that say what the query is about, by their stems, in order; all words if none is left."""
    words = {}
    for word in query.split():
        stems = stem_words(word)
        # A compound such as COX-2 counts as its parts.
        words.update({stems[0]: word} if len(stems) == 1 else {stem: stem for stem in stems})
    return {stem: word for stem, word in words.items() if stem not in _FUNCTION_STEMS} or words


def _visible(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Cc":
        return " "
    return "" if category in ("Cf", "Cs", "Cn") else character
