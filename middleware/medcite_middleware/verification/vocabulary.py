"""Words that turn a sentence's meaning, and words that do not. English, as PubMed's abstracts are."""

from __future__ import annotations

NEGATIONS = frozenset(
    """not no never neither nor none cannot n't without nobody nothing nowhere hardly scarcely barely lack lacks lacked
    lacking fail fails failed failing absent absence unable""".split()
)

AUXILIARIES = frozenset(
    """is are was were be been being am do does did has have had can could will would shall should may might must""".split()
)

HEDGES = frozenset(
    """may might possibly perhaps potentially potential probably likely unlikely apparently seemingly suggest suggests
    suggested suggesting appear appears appeared seem seems seemed indicate indicates presumably putative preliminary
    hypothesize hypothesized hypothesise hypothesised speculate speculated possible""".split()
)

HEDGE_FRAME = frozenset(
    """these those our the this results result data findings finding study studies evidence analysis analyses we authors it to there
    that which trend toward towards observations trial trials""".split()
)
"""What may stand about a hedge: "These results suggest that …", "appeared to …"."""

ASSOCIATIONS = frozenset(
    """associated association associations associate associates correlated correlation correlate correlates correlates linked link
    links related relation relationship predicted predicts predictor predictors predictive marker markers""".split()
)
ASSOCIATION_FRAME = frozenset(
    "with to of was were is are has have been be an a the between and by for in risk factor".split()
)
CAUSES = frozenset(
    """cause causes caused causing lead leads led leading result results resulted due produces produced produce induces induced
    induce increases increased increase reduces reduced reduce decreases decreased decrease prevents prevented prevent improves
    improved improve lowers lowered lower raises raised raise protects protected protect affects affected affect makes made
    because drives drove drive triggers triggered trigger worsens worsened worsen""".split()
)
"""Words that tell a cause, where a source only tells that two things go together."""

PARTS = frozenset(
    "some several certain many most few half part partly partially sometimes occasionally often usually mostly majority".split()
)
WHOLES = frozenset("all every each always everyone everybody whole entire entirely completely invariably".split())

# Each row: words of one direction | words of the opposite one.
_OPPOSITES = """
increase increases increased increasing rise rises rose risen rising | decrease decreases decreased decreasing decline declines declined declining fall falls fell fallen falling
increase increases increased increasing raise raises raised | reduce reduces reduced reducing reduction lower lowers lowered lowering
increase elevation rise | reduction decrease decline drop
higher greater more larger | lower less fewer smaller
highest greatest most largest | lowest least fewest smallest
high | low
improve improves improved improving improvement | worsen worsens worsened worsening deteriorate deteriorates deteriorated deterioration
better | worse
superior | inferior
positive positively | negative negatively
longer | shorter
longest | shortest
earlier | later
faster | slower
above | below
upregulated up-regulated upregulation upregulates | downregulated down-regulated downregulation downregulates
elevated | reduced decreased lowered
enhance enhances enhanced enhancing | inhibit inhibits inhibited inhibiting suppress suppresses suppressed suppressing impair impairs impaired
activate activates activated activation | inhibit inhibits inhibited inhibition inactivate inactivates inactivated inactivation
promote promotes promoted promoting | inhibit inhibits inhibited inhibiting prevent prevents prevented preventing
accelerate accelerates accelerated | slow slows slowed delay delays delayed
beneficial | harmful detrimental
benefit benefits | harm harms
safe | unsafe dangerous
effective | ineffective
significant significantly | insignificant insignificantly nonsignificant nonsignificantly
common | rare uncommon
frequent frequently often | infrequent infrequently rarely seldom
present | absent
presence | absence
sensitive | resistant insensitive
strong strongly stronger | weak weakly weaker
gain gained | loss lost
gain | lose
all | none
always | never
most | few
maximum maximal | minimum minimal
survived | died
protective | harmful
similar same | different
similarly | differently
"""

# Opposites that name a group, a time or a condition ("adults", "acute") are not here: swapping one changes the subject.
OPPOSITES: frozenset[tuple[str, str]] = frozenset(
    pair
    for row in _OPPOSITES.strip().splitlines()
    for left, right in [row.split("|")]
    for a in left.split()
    for b in right.split()
    for pair in ((a, b), (b, a))
)
"""Pairs (word, opposite), both ways round."""

HARMLESS: frozenset[str] = frozenset()
"""Words that may come or go without a change of meaning: none. "A few" is not "few", "the only" is not "only"."""

# Words that do not count as a difference when the kind of a difference is read; they never make two sentences the same.
FILLERS = frozenset("a an the that also thus therefore hence moreover furthermore however additionally".split())

# Openings of a source sentence that a claim may leave out, or of a claim that the source need not have. None of them
# weakens the statement: "suggest", "may" and the like are hedges and stand in no row.
_OPENINGS = """
we found that | we find that | we observed that | we showed that | we show that | we demonstrated that | we demonstrate that
we report that | we conclude that | we concluded that | it was found that | it was shown that | it was observed that
results showed that | results show that | results demonstrated that | results revealed that | the results showed that
the results show that | the results demonstrated that | the results revealed that | our results show that
our results showed that | our results demonstrate that | our results demonstrated that | our findings show that
our findings demonstrate that | these results show that | these results demonstrate that | these findings show that
these findings demonstrate that | this study showed that | this study shows that | this study demonstrated that
this study demonstrates that | this study found that | the study showed that | the study found that
analysis showed that | analysis revealed that | in conclusion | in summary | in this study | overall | conclusion
conclusions | results | importantly | notably | interestingly | finally | in addition | of note | in fact | to summarize
however | moreover | furthermore | thus | therefore | hence | additionally | according to the study | the authors found that
the authors concluded that | researchers found that | the study reports that | it was concluded that
"""
OPENINGS: frozenset[tuple[str, ...]] = frozenset(
    tuple(item.split()) for row in _OPENINGS.strip().splitlines() for item in row.split("|")
)

UNITS = frozenset(
    """second seconds s minute minutes min h hr hour hours day days d week weeks wk month months mo year years yr yrs mg g kg ug nM mM hz
    μg mcg ng ml l dl iu u mmol μmol nmol mol mm cm m gy mci mbq cgy fold times old""".split()
)
"""A number before one of these is a time, a dose or a size of what was given, not what was found."""

THRESHOLDS = frozenset(
    """than least most over above below under exceeding aged age ages older younger < ≤ > ≥ - between up within first""".split()
)
"""A number after one of these bounds a group or a range."""

FINDING_VERBS = frozenset(
    """reduced reduces reduce increased increases increase decreased decreases decrease improved improves improve lowered lowers
    raised raises rose rises fell falls declined declines showed shows show shown found finds had has have led leads resulted
    results caused causes prevented prevents inhibited inhibits suppressed suppresses enhanced enhances activated activates
    promoted promotes accelerated accelerates slowed slows delayed delays worsened worsens deteriorated deteriorates achieved
    reached occurred developed died survived remained averaged yielded revealed demonstrated observed reported detected
    upregulated downregulated impaired impairs elevated associated correlated predicted predicts affected affects""".split()
)

MEASURE_VERBS = frozenset(
    """weighs weighed measures measured lasts lasted costs cost totals totalled totaled equals equalled averages averaged enrolled
    enrolls enrols included includes recruited randomised randomized comprised comprises contains contained""".split()
)
"""A number directly after one of these is what the sentence tells, whatever its unit."""

# A number after one of these names a group or a point in time; it is a label, not a measure.
LABEL_NOUNS = frozenset(
    """group groups phase type grade stage day days week weeks month months year years arm arms cohort study trial table figure
    class level category visit cycle cycles session season chapter version part dose doses quartile tertile quintile chromosome
    exon experiment grant model factor wave site item after""".split()
)

NUMBER_WORDS = {
    word: str(value)
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve".split(),
    )
}
