//! English plurals exactly as Laravel makes them, so that inferred table names are the ones the application uses.
//!
//! Laravel takes its rules from Doctrine's inflector: words that never change, irregular pairs, then the first fitting ending.
//! The order of the rules is theirs, oddities included (`Roman` becomes `Romen`).

/// A rule: a word that ends in one of `endings` loses the last `cut` letters and gets `add`.
struct Rule {
    endings: &'static [&'static str],
    /// Which letters may stand before the ending.
    before: Before,
    cut: usize,
    add: &'static str,
}

#[derive(Clone, Copy)]
enum Before {
    Anything,
    /// The word is the ending itself.
    Nothing,
    /// Some letter, but none of these.
    Not(&'static str),
}

const fn rule(endings: &'static [&'static str], cut: usize, add: &'static str) -> Rule {
    Rule {
        endings,
        before: Before::Anything,
        cut,
        add,
    }
}

const fn whole(endings: &'static [&'static str], cut: usize, add: &'static str) -> Rule {
    Rule {
        endings,
        before: Before::Nothing,
        cut,
        add,
    }
}

const fn after_not(letters: &'static str, endings: &'static [&'static str], cut: usize, add: &'static str) -> Rule {
    Rule {
        endings,
        before: Before::Not(letters),
        cut,
        add,
    }
}

const PLURAL: &[Rule] = &[
    rule(&["status"], 0, "es"),
    rule(&["quiz"], 0, "zes"),
    whole(&["ox"], 0, "en"),
    rule(&["mouse", "louse"], 4, "ice"),
    rule(&["matrix", "vertix", "indix", "matrex", "vertex", "index"], 2, "ices"),
    rule(&["x", "ch", "ss", "sh"], 0, "es"),
    rule(&["quy"], 1, "ies"),
    after_not("aeiouy", &["y"], 1, "ies"),
    rule(&["hive", "gulf"], 0, "s"),
    after_not("f", &["fe"], 2, "ves"),
    rule(&["lf", "rf"], 1, "ves"),
    rule(&["sis"], 2, "es"),
    rule(&["tum", "ium"], 2, "a"),
    rule(&["taxon", "criterion"], 2, "a"),
    rule(&["person"], 4, "ople"),
    rule(&["man"], 2, "en"),
    rule(&["child"], 0, "ren"),
    rule(&["foot"], 3, "eet"),
    rule(&["buffalo", "hero", "potato", "tomato", "volcano"], 0, "es"),
    rule(
        &[
            "alumnus", "bacillus", "cactus", "focus", "fungus", "nucleus", "radius", "stimulus", "syllabus",
            "terminus", "virus",
        ],
        2,
        "i",
    ),
    rule(&["us"], 0, "es"),
    rule(&["alias"], 0, "es"),
    rule(&["analysis", "axis", "crisis", "testis", "thesis"], 2, "es"),
    rule(&["s"], 0, ""),
    rule(&[""], 0, "s"),
];

const SINGULAR: &[Rule] = &[
    rule(&["statuses"], 2, ""),
    rule(&["status", "campus"], 0, ""),
    rule(&["menus"], 1, ""),
    rule(&["quizzes"], 3, ""),
    rule(&["matrices"], 4, "ix"),
    rule(&["vertices", "indices"], 4, "ex"),
    whole(&["oxen"], 2, ""),
    rule(&["aliases"], 2, ""),
    rule(&["alias"], 0, ""),
    rule(&["buffaloes", "heroes", "potatoes", "tomatoes", "volcanoes"], 2, ""),
    rule(
        &[
            "alumni", "bacilli", "cacti", "foci", "fungi", "nuclei", "radii", "stimuli", "syllabi", "termini", "virii",
            "viri",
        ],
        1,
        "us",
    ),
    rule(&["faxes", "taxes", "waxes"], 2, ""),
    rule(&["analyses", "axes", "crises", "testes", "theses"], 2, "is"),
    rule(&["shoes", "slaves"], 1, ""),
    rule(&["oes"], 2, ""),
    rule(&["ouses"], 1, ""),
    after_not("a", &["uses"], 2, ""),
    rule(&["mice", "lice"], 3, "ouse"),
    rule(&["xes", "ches", "sses", "shes"], 2, ""),
    rule(&["movies"], 1, ""),
    rule(&["series"], 0, ""),
    rule(&["quies"], 3, "y"),
    after_not("aeiouy", &["ies"], 3, "y"),
    rule(&["lves", "rves"], 3, "f"),
    rule(&["tives", "hives", "drives", "dives", "olives"], 1, ""),
    after_not("fo", &["ves"], 3, "fe"),
    rule(
        &[
            "analyses",
            "diagnoses",
            "parentheses",
            "prognoses",
            "synopses",
            "theses",
        ],
        2,
        "is",
    ),
    whole(&["bases"], 2, "is"),
    rule(&["taxa"], 1, "on"),
    rule(&["criteria"], 1, "on"),
    rule(&["ta", "ia"], 1, "um"),
    rule(&["people"], 4, "rson"),
    rule(&["men"], 2, "an"),
    rule(&["children"], 3, ""),
    rule(&["feet"], 3, "oot"),
    rule(&["news"], 0, ""),
    rule(&["eaus"], 1, ""),
    whole(&["tights", "shorts"], 0, ""),
    rule(&["s"], 1, ""),
];

/// Words that are the same in both.
#[rustfmt::skip]
const UNCHANGED: &[&str] = &[
    "advice", "aircraft", "amoyese", "art", "audio", "baggage", "bison", "borghese", "bream", "breeches", "britches",
    "buffalo", "butter", "cantus", "carp", "cattle", "chassis", "clippers", "clothing", "coal", "cod", "coitus",
    "compensation", "congoese", "contretemps", "coreopsis", "corps", "cotton", "data", "debris", "deer", "diabetes",
    "djinn", "education", "eland", "elk", "emoji", "equipment", "evidence", "faroese", "feedback", "fish", "flounder",
    "flour", "foochowese", "food", "furniture", "gallows", "genevese", "genoese", "gilbertese", "gold",
    "headquarters", "herpes", "hijinks", "homework", "hottentotese", "impatience", "information", "innings",
    "jackanapes", "jeans", "jedi", "kin", "kiplingese", "knowledge", "kongoese", "leather", "love", "lucchese",
    "luggage", "mackerel", "maltese", "management", "metadata", "mews", "money", "moose", "mumps", "music",
    "nankingese", "news", "nexus", "niasese", "nutrition", "offspring", "oil", "patience", "pekingese", "piedmontese",
    "pincers", "pistoiese", "plankton", "pliers", "pokemon", "police", "polish", "portuguese", "proceedings",
    "progress", "rabies", "rain", "research", "rhinoceros", "rice", "salmon", "sand", "sarawakese", "scissors",
    "series", "shavese", "shears", "sheep", "siemens", "silk", "sms", "soap", "social media", "spam", "species",
    "staff", "sugar", "swine", "talent", "toothpaste", "traffic", "travel", "trousers", "trout", "tuna", "us",
    "vermontese", "vinegar", "weather", "wenchowese", "wheat", "whiting", "wildebeest", "wood", "wool", "yengeese",
];

/// Words that are plural already.
#[rustfmt::skip]
const UNCHANGED_PLURAL: &[&str] = &[
    "people", "trivia", "media",
];

/// Words that are singular already.
#[rustfmt::skip]
const UNCHANGED_SINGULAR: &[&str] = &[
    "clothes", "data", "fascia", "fuchsia", "galleria", "mafia", "militia", "pants", "petunia", "sepia", "trivia",
    "utopia",
];

/// Laravel's own addition: words without a plural.
#[rustfmt::skip]
const UNCOUNTABLE: &[&str] = &[
    "audio", "bison", "cattle", "chassis", "compensation", "coreopsis", "data", "deer", "education", "emoji",
    "equipment", "evidence", "feedback", "firmware", "fish", "furniture", "gold", "hardware", "information", "jedi",
    "kin", "knowledge", "love", "metadata", "money", "moose", "news", "nutrition", "offspring", "plankton", "pokemon",
    "police", "rain", "recommended", "related", "rice", "series", "sheep", "software", "species", "swine", "traffic",
    "wheat",
];

/// Words with a plural of their own.
#[rustfmt::skip]
const IRREGULAR: &[(&str, &str)] = &[
    ("atlas", "atlases"), ("axe", "axes"), ("beef", "beefs"), ("blouse", "blouses"), ("brother", "brothers"),
    ("cafe", "cafes"), ("chateau", "chateaux"), ("niveau", "niveaux"), ("child", "children"), ("canvas", "canvases"),
    ("cookie", "cookies"), ("corpus", "corpuses"), ("cow", "cows"), ("criterion", "criteria"),
    ("curriculum", "curricula"), ("demo", "demos"), ("domino", "dominoes"), ("echo", "echoes"), ("foot", "feet"),
    ("fungus", "fungi"), ("ganglion", "ganglions"), ("gas", "gases"), ("genie", "genies"), ("genus", "genera"),
    ("goose", "geese"), ("graffito", "graffiti"), ("hippopotamus", "hippopotami"), ("hoof", "hoofs"),
    ("human", "humans"), ("iris", "irises"), ("larva", "larvae"), ("leaf", "leaves"), ("lens", "lenses"),
    ("loaf", "loaves"), ("man", "men"), ("medium", "media"), ("memorandum", "memoranda"), ("money", "monies"),
    ("mongoose", "mongooses"), ("motto", "mottoes"), ("move", "moves"), ("mythos", "mythoi"), ("niche", "niches"),
    ("nucleus", "nuclei"), ("numen", "numina"), ("occiput", "occiputs"), ("octopus", "octopuses"), ("opus", "opuses"),
    ("ox", "oxen"), ("passerby", "passersby"), ("penis", "penises"), ("person", "people"), ("plateau", "plateaux"),
    ("runner-up", "runners-up"), ("safe", "safes"), ("sex", "sexes"), ("sieve", "sieves"),
    ("soliloquy", "soliloquies"), ("son-in-law", "sons-in-law"), ("syllabus", "syllabi"), ("testis", "testes"),
    ("thief", "thieves"), ("tooth", "teeth"), ("tornado", "tornadoes"), ("trilby", "trilbys"), ("turf", "turfs"),
    ("valve", "valves"), ("volcano", "volcanoes"), ("abuse", "abuses"), ("avalanche", "avalanches"),
    ("cache", "caches"), ("curve", "curves"), ("emphasis", "emphases"), ("foe", "foes"), ("grave", "graves"),
    ("hoax", "hoaxes"), ("neurosis", "neuroses"), ("save", "saves"), ("wave", "waves"), ("oasis", "oases"),
    ("zombie", "zombies"),
];

/// The plural of a word, as `Str::plural`.
pub fn plural(word: &str) -> String {
    let lower = word.to_lowercase();
    let is_word = word
        .chars()
        .next_back()
        .is_some_and(|letter| letter.is_ascii_alphanumeric() || !letter.is_ascii());
    let never = UNCOUNTABLE.contains(&lower.as_str())
        || UNCHANGED.contains(&lower.as_str())
        || UNCHANGED_PLURAL.contains(&lower.as_str())
        || (lower.ends_with("media") && lower.len() > 5)
        || (lower.ends_with("ware") && lower.len() > 4);
    if !is_word || never {
        return word.to_string();
    }
    let irregular = IRREGULAR.iter().find(|(one, _)| *one == lower).map(|(_, many)| *many);
    inflected(word, &lower, irregular, PLURAL)
}

/// The singular of a word, as `Str::singular`.
pub fn singular(word: &str) -> String {
    let lower = word.to_lowercase();
    let never = UNCHANGED.contains(&lower.as_str())
        || UNCHANGED_SINGULAR.contains(&lower.as_str())
        || lower.ends_with("ss")
        || (lower.ends_with("media") && lower.len() > 5);
    if never {
        return word.to_string();
    }
    let irregular = IRREGULAR.iter().find(|(_, many)| *many == lower).map(|(one, _)| *one);
    inflected(word, &lower, irregular, SINGULAR)
}

/// The plural of the last word of a studly name, as `Str::pluralStudly`: `BlogPost` gives `BlogPosts`.
pub fn plural_studly(name: &str) -> String {
    let last = name
        .char_indices()
        .rfind(|(at, letter)| *at > 0 && letter.is_ascii_uppercase())
        .map_or(0, |(at, _)| at);
    format!("{}{}", &name[..last], plural(&name[last..]))
}

/// As `Str::snake`: an underscore before every capital letter but the first, so `APIToken` gives `a_p_i_token`.
pub fn snake(name: &str) -> String {
    if name.chars().all(|letter| letter.is_ascii_lowercase()) {
        return name.to_string();
    }
    let mut out = String::with_capacity(name.len() + 4);
    let mut starts_word = true;
    for letter in name.chars() {
        if letter.is_whitespace() {
            starts_word = true;
            continue;
        }
        let letter = if starts_word {
            letter.to_ascii_uppercase()
        } else {
            letter
        };
        starts_word = false;
        if letter.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.extend(letter.to_lowercase());
    }
    out
}

fn inflected(word: &str, lower: &str, irregular: Option<&str>, rules: &[Rule]) -> String {
    if let Some(found) = irregular {
        return like(word, found.to_string());
    }
    let Some(rule) = rules.iter().find(|rule| rule.fits(lower)) else {
        return word.to_string();
    };
    // Endings are plain letters, so the cut is between characters; a word whose lower case is longer is left alone.
    match word.len().checked_sub(rule.cut).and_then(|end| word.get(..end)) {
        Some(stem) if word.len() == lower.len() => like(word, format!("{stem}{}", rule.add)),
        _ => word.to_string(),
    }
}

impl Rule {
    fn fits(&self, word: &str) -> bool {
        self.endings.iter().any(|ending| {
            word.strip_suffix(ending).is_some_and(|before| match self.before {
                Before::Anything => true,
                Before::Nothing => before.is_empty(),
                Before::Not(letters) => before
                    .chars()
                    .next_back()
                    .is_some_and(|letter| !letters.contains(letter)),
            })
        })
    }
}

/// `found` in the case of `word`, where that is all lower, all upper or capitalised.
fn like(word: &str, found: String) -> String {
    if word.to_lowercase() == word {
        return found.to_lowercase();
    }
    if word.to_uppercase() == word {
        return found.to_uppercase();
    }
    let mut letters = found.chars();
    match (word.chars().next(), letters.next()) {
        (Some(first), Some(other)) if first.is_uppercase() => other.to_uppercase().chain(letters).collect(),
        _ => found,
    }
}

#[cfg(test)]
mod tests {
    use super::{plural, plural_studly, singular, snake};

    #[test]
    fn plurals_and_singulars() {
        let pairs = [
            ("user", "users"),
            ("category", "categories"),
            ("box", "boxes"),
            ("person", "people"),
            ("child", "children"),
            ("status", "statuses"),
            ("address", "addresses"),
            ("analysis", "analyses"),
            ("leaf", "leaves"),
            ("tax", "taxes"),
            ("bus", "buses"),
            ("hero", "heroes"),
            ("photo", "photos"),
            ("quiz", "quizzes"),
            ("index", "indices"),
            ("criterion", "criteria"),
            ("movie", "movies"),
            ("day", "days"),
            ("wife", "wives"),
            ("mouse", "mice"),
            ("woman", "women"),
            ("series", "series"),
            ("Goose", "Geese"),
        ];
        for (one, many) in pairs {
            assert_eq!(plural(one), many);
            assert_eq!(singular(many), one);
        }
        for same in ["equipment", "news", "software", "metadata", "recommended", "sheep"] {
            assert_eq!(plural(same), same);
        }
        assert_eq!(plural("USER"), "USERS");
        assert_eq!(plural("medium"), "media");
        assert_eq!(plural("datum"), "data");
        assert_eq!(plural(""), "");
    }

    #[test]
    fn tables() {
        let table = |name: &str| snake(&plural_studly(name));
        for (model, expected) in [
            ("User", "users"),
            ("BlogPost", "blog_posts"),
            ("UserFeedback", "user_feedback"),
            ("Person", "people"),
            ("APIToken", "a_p_i_tokens"),
            ("OrderStatus", "order_statuses"),
            ("Équipe", "équipes"),
        ] {
            assert_eq!(table(model), expected);
        }
    }
}
