"""Words for the same thing, for scans: what a text calls otherwise is still mentioned. English, clinical.

`SAME` are names of one thing; `RELATED` are near enough that finding one leaves a claim of absence open.
"""

from __future__ import annotations

import re
from functools import lru_cache

from medcite_core.stemming import stem

_SAME = """
death | died | dying | dead | deceased | fatality | fatal | mortality | lethal | passed away
adverse event | adverse reaction | adverse effect | adverse experience | side effect | undesirable effect
heart attack | myocardial infarction | STEMI | NSTEMI
high blood pressure | hypertension | hypertensive
low blood pressure | hypotension | hypotensive
stroke | cerebrovascular accident | apoplexy
kidney | renal | nephric
liver | hepatic
heart | cardiac
lung | pulmonary
stomach | gastric
brain | cerebral
kidney failure | renal failure | renal insufficiency
liver failure | hepatic failure | hepatic insufficiency
heart failure | cardiac failure | CHF
diabetes | diabetic | diabetes mellitus | T2DM | T1DM
cancer | carcinoma | malignancy | malignant
child | pediatric
elderly | older adult | older people | geriatric
woman | women | female
man | men | male
pregnancy | pregnant | gravid | gestation | gestational
breastfeeding | lactation | lactating | nursing mother
placebo | sham | dummy
bleeding | hemorrhage | hemorrhagic | bled
blood clot | thrombosis | thrombus | thrombotic | DVT
pulmonary embolism | lung embolism
fever | pyrexia | febrile
itching | itch | pruritus
vomiting | vomited | emesis
nausea | nauseous | nauseated
rash | exanthema | skin eruption
shortness of breath | dyspnea | breathlessness
hair loss | alopecia
jaundice | icterus
headache | cephalalgia
fainting | syncope
seizure | convulsion | epileptic fit
fracture | broken bone
allergy | allergic | hypersensitivity
anaphylaxis | anaphylactic
overdose | overdosage
alcohol | ethanol
drug interaction | interaction with other medicines
kidney stone | nephrolithiasis | renal calculus
gallstone | cholelithiasis
chickenpox | varicella
whooping cough | pertussis
shingles | herpes zoster
flu | influenza
COVID-19 | COVID | SARS-CoV-2 | coronavirus disease
HIV | human immunodeficiency virus
chronic obstructive pulmonary disease | COPD
acetaminophen | paracetamol
aspirin | acetylsalicylic acid
epinephrine | adrenaline
norepinephrine | noradrenaline
vitamin C | ascorbic acid | ascorbate
vitamin D | cholecalciferol | calciferol
doctor | physician
medicine | medication | drug | medicinal product
surgery | surgical
randomised | randomly | randomization
blinded | blinding | masked | masking
dropout | withdrawal | withdrew | lost to follow-up | attrition
cost | costs | price | expense | expenditure
funding | funded | sponsor | sponsored | financial support
conflict of interest | conflicts of interest | competing interest
quality of life | QoL | HRQoL
hospitalisation | hospitalized | hospital admission | admitted to hospital | inpatient
rehospitalisation | readmission | readmitted
myopia | short-sightedness | nearsightedness
obesity | obese
smoking | smoker | smoked | tobacco | cigarette
weight gain | gained weight
weight loss | lost weight
suicide | suicidal
infection | infected | infectious
inflammation | inflammatory
relapse | relapsed | recurrence | recurred | recurrent
"""
_RELATED = """
death | survival | survived | survivor | killed | autopsy
adverse event | toxicity | toxic | harm | safety | safe | complication | tolerated | tolerability | reaction
adverse event | unwanted effect | AE | AEs | SAE | SAEs
heart attack | MI | AMI | infarct
heart failure | HF | HFrEF
pulmonary embolism | PE
overdose | OD
cold | common cold
HIV | AIDS
aspirin | ASA
funding | grant | paid
bleeding | bruising | blood loss
stroke | ischemic attack | TIA | CVA
cancer | tumour | neoplasm | neoplastic | oncology | oncological
cancer | leukemia | lymphoma | melanoma | sarcoma | metastasis
child | infant | adolescent | boy | girl | neonate | newborn | school | young | age | teenager
elderly | aged | age | old | senior
pregnancy | trimester | fetus | fetal | maternal | mother
allergy | rash | urticaria
infection | sepsis | bacterial | viral | pneumonia
kidney | nephropathy | nephrotoxic | creatinine | dialysis | glomerular
liver | hepatitis | hepatotoxic | cirrhosis | transaminase
heart | cardiovascular | myocardial | coronary
alcohol | drinking | wine | beer
cost | economic | cheap | expensive | dollar | euro | afford
diabetes | glucose | insulin | HbA1c
surgery | operation | operative | transplant | resection | procedure
hospitalisation | hospital | discharge
seizure | epilepsy | epileptic
relapse | remission
adverse event | untoward effect
diarrhea | loose stool | watery stool
anemia | low hemoglobin
vitamin D | ergocalciferol | hydroxyvitamin | calcitriol
randomised | allocated | allocation | lot
blinded | open-label
mouse | rodent | murine
lactose | milk sugar | galactose | milk | dairy
gluten | wheat | celiac
placebo | control
obesity | overweight | BMI
blood clot | embolism | coagulation
"""

# Short forms that a text may use without spelling them out; they are read either way, and prove nothing by themselves.
_SHORT = """
IL | interleukin
TNF | tumor necrosis factor
CRP | C-reactive protein
LDL | low-density lipoprotein
HDL | high-density lipoprotein
BMI | body mass index
ICU | intensive care unit
MRI | magnetic resonance imaging
CT | computed tomography
ECG | EKG | electrocardiogram | electrocardiography
NSAID | NSAIDs | nonsteroidal anti-inflammatory drug | non-steroidal anti-inflammatory drug
RCT | RCTs | randomized controlled trial
UTI | urinary tract infection
GFR | eGFR | glomerular filtration rate
HbA1c | glycated hemoglobin | glycosylated hemoglobin
VTE | venous thromboembolism
AF | atrial fibrillation
PTSD | posttraumatic stress disorder | post-traumatic stress disorder
ADHD | attention deficit hyperactivity disorder
IBS | irritable bowel syndrome
IBD | inflammatory bowel disease
CKD | chronic kidney disease | chronic renal disease
AKI | acute kidney injury | acute renal failure
ARDS | acute respiratory distress syndrome
TB | tuberculosis
MS | multiple sclerosis
RA | rheumatoid arthritis
T2DM | type 2 diabetes
T1DM | type 1 diabetes
COPD | chronic obstructive pulmonary disease
HIV | human immunodeficiency virus
ACE | angiotensin converting enzyme
SSRI | SSRIs | selective serotonin reuptake inhibitor
PPI | PPIs | proton pump inhibitor
CNS | central nervous system
GI | gastrointestinal
BP | blood pressure
HR | heart rate
QT | QTc
"""

_SPELLING = (
    (re.compile(r"aem(?=i|o|a)"), "em"),
    (re.compile(r"aes(?=th)"), "es"),
    (re.compile(r"oe(?=d|s|t|m|b|c|l)"), "e"),
    (re.compile(r"(?<=[a-z])our(?=s?$|ed$|al$|ing$|able$)"), "or"),
    (re.compile(r"is(?=e[sd]?$|ing$|ation)"), "iz"),
    (re.compile(r"ys(?=e[sd]?$|ing$)"), "yz"),
    (re.compile(r"paed"), "ped"),
    (re.compile(r"gynaec"), "gynec"),
    (re.compile(r"rrhoea"), "rrhea"),
    (re.compile(r"pnoea"), "pnea"),
    (re.compile(r"leuka|leukae"), "leuke"),
    (re.compile(r"caec"), "cec"),
    (re.compile(r"fib(?:re)\b"), "fiber"),
)
_IRREGULAR = {
    "children": "child", "women": "woman", "men": "man", "mice": "mouse", "feet": "foot", "teeth": "tooth",
    "died": "death", "die": "death", "dies": "death", "dying": "death", "dead": "death", "deaths": "death",
    "fatalities": "fatal", "fatality": "fatal", "bled": "bleed", "diagnoses": "diagnosis", "metastases":
    "metastasis", "calculi": "calculus", "bacteria": "bacterium", "criteria": "criterion", "thrombi":
    "thrombus",
}  # fmt: skip


MIN_FAMILY = 4
"""Letters of a root from which its ending is looked at."""


@lru_cache(maxsize=65_536)
def root(word: str) -> str:
    """What all inflections and spellings of a word have in common: its stem, American, singular."""
    plain = word.casefold()
    plain = _IRREGULAR.get(plain, plain)
    for pattern, american in _SPELLING:
        plain = pattern.sub(american, plain)
    return stem(plain)


def roots(phrase: str) -> tuple[str, ...]:
    """The root of each word of a phrase; the parts of a compound are words of their own."""
    return tuple(root(w) for w in re.findall(r"[^\W_]+", phrase))


def _groups(table: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(p.strip() for p in row.split("|")) for row in table.strip().splitlines())


SAME = _groups(_SAME)
RELATED = _groups(_RELATED)
SHORT = _groups(_SHORT)


def same_as(phrase: str) -> tuple[str, ...]:
    """Other names of `phrase`, or of a part of it ("severe kidney failure": "severe renal failure"), without itself."""
    return _variants(phrase, SAME)


def related_to(phrase: str) -> tuple[str, ...]:
    """Names of what is close to `phrase` or to its last words, which may speak of it without naming it."""
    own = {roots(phrase), *(roots(p) for p in same_as(phrase))}
    found = [
        other
        for group in RELATED
        if any(name[-len(roots(group[0])) :] == roots(group[0]) for name in own)
        for other in group[1:]
    ]
    found.extend(_variants(phrase, SHORT))
    return tuple(dict.fromkeys(found))


_DERIVATION = re.compile(r"(?:osis|itis|ical|ia|ic|is|al|ous|ive|iti|ion|y|i|e|a)$")


def family(root_of_word: str) -> str:
    """A root without the ending that makes a noun or an adjective of it: anemia and anemic, hepatitis and hepatic."""
    return _DERIVATION.sub("", root_of_word) if len(root_of_word) > MIN_FAMILY else root_of_word


def is_short_form(phrase: str) -> bool:
    """Whether a form is written in capitals, and so counts only when it stands so in a text: "PE", "STEMI"."""
    return bool(re.fullmatch(r"[A-Z][A-Za-z]?[A-Z]+s?|[A-Z]{2,}\d*[A-Z]*s?|[A-Z]\d?[A-Z]{2,}", phrase))


@lru_cache(maxsize=1024)
def _variants(phrase: str, groups: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    words = re.findall(r"[^\W_]+", phrase)
    own = roots(phrase)
    found: list[str] = []
    for group in groups:
        for member in group:
            part = roots(member)
            if is_short_form(member) and member not in words:
                continue
            at = _position(part, own)
            if at is None:
                continue
            for other in group:
                variant = [*words[:at], other, *words[at + len(part) :]]
                if other != member and roots(" ".join(variant)) != own:
                    found.append(" ".join(variant))
            break
    return tuple(dict.fromkeys(found))


def _position(part: tuple[str, ...], whole: tuple[str, ...]) -> int | None:
    return next((i for i in range(len(whole) - len(part) + 1) if whole[i : i + len(part)] == part), None)
