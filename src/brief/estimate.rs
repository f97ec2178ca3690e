//! Estimates from above how many tokens a text has, without a tokenizer.
//!
//! Tokenizers differ, so this is an estimate from above: it is meant never to be below what
//! `cl100k_base` and `o200k_base` count for prose, code, JSON, Chinese or emoji, and a test
//! compares it with both. English prose and code come out at one and a half to two times the
//! real count. The rules, for each line on its own:
//!
//! - a line end is one token, so that the count of a text is the sum over its lines;
//! - a frequent English word is one token; another word of Latin letters one for every two letters
//!   begun; and one for every one and a half when it does not look like a word: no vowels, many
//!   consonants in a row, all capitals, digits next to it; `camelCase` is several words;
//! - digits are one token for every three begun;
//! - every other ASCII character is one token, but a space before a word or a sign is free, and
//!   several spaces are one token for every sixteen begun and one more;
//! - other characters are as many tokens as they have bytes in UTF-8, less for the most frequent
//!   Chinese characters (one), Cyrillic (one), and for kana, Thai, Devanagari and the like (two).

use super::frequent_words;

/// An estimate of the number of tokens, from above.
pub fn tokens(text: &str) -> usize {
    let mut count = 0;
    for line in text.split_inclusive('\n') {
        let (line, end) = match line.strip_suffix('\n') {
            Some(line) => (line, 1),
            None => (line, 0),
        };
        count += line_tokens(line) + end;
    }
    count
}

fn line_tokens(line: &str) -> usize {
    let bytes = line.as_bytes();
    let mut count = 0;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let from = at;
        let run = |fits: fn(&u8) -> bool| bytes[from..].iter().take_while(|b| fits(b)).count();
        if byte.is_ascii_alphabetic() {
            at += run(u8::is_ascii_alphabetic);
            let beside_digit = from.checked_sub(1).is_some_and(|b| bytes[b].is_ascii_digit())
                || bytes.get(at).is_some_and(u8::is_ascii_digit);
            count += letters(&bytes[from..at], beside_digit);
        } else if byte.is_ascii_digit() {
            at += run(u8::is_ascii_digit);
            count += (at - from).div_ceil(3);
        } else if byte == b' ' {
            at += run(|b| *b == b' ');
            let joins = |byte: &u8| byte.is_ascii_alphabetic() || byte.is_ascii_punctuation();
            count += match at - from {
                1 => usize::from(!bytes.get(at).is_some_and(joins)),
                more => 1 + more.div_ceil(16),
            };
        } else if byte.is_ascii() {
            at += 1;
            count += 1;
        } else {
            let c = line[at..].chars().next().unwrap_or_default();
            at += c.len_utf8();
            count += other(c);
        }
    }
    count
}

/// A run of ASCII letters, which may be several words as in `camelCase`.
fn letters(run: &[u8], beside_digit: bool) -> usize {
    let mut count = 0;
    let mut from = 0;
    for at in 1..=run.len() {
        let ends = run
            .get(at)
            .is_none_or(|byte| byte.is_ascii_uppercase() && run[at - 1].is_ascii_lowercase());
        if ends {
            count += word(&run[from..at], beside_digit);
            from = at;
        }
    }
    count
}

fn word(word: &[u8], beside_digit: bool) -> usize {
    let length = word.len();
    if beside_digit || !looks_like_a_word(word) {
        return (2 * length).div_ceil(3);
    }
    if frequent_words::contains(word) { 1 } else { length.div_ceil(2) }
}

fn looks_like_a_word(word: &[u8]) -> bool {
    const VOWELS: [bool; 256] = {
        let mut table = [false; 256];
        let mut at = 0;
        while at < b"aeiouyAEIOUY".len() {
            table[b"aeiouyAEIOUY"[at] as usize] = true;
            at += 1;
        }
        table
    };
    let (mut vowels, mut consonants, mut most) = (0, 0, 0);
    for byte in word {
        if VOWELS[usize::from(*byte)] {
            vowels += 1;
            consonants = 0;
        } else {
            consonants += 1;
            most = most.max(consonants);
        }
    }
    let capitals = word.iter().skip(1).any(u8::is_ascii_uppercase);
    !capitals && most <= 4 && vowels * 6 >= word.len() && word.len() <= 24
}

/// A character that is not ASCII.
fn other(c: char) -> usize {
    match c {
        'А'..='я' => 1,
        '\u{0900}'..='\u{0e7f}' | '\u{2500}'..='\u{257f}' | '\u{3000}'..='\u{30ff}' => 2,
        '\u{4e00}'..='\u{9fff}' if is_frequent(c) => 1,
        c => c.len_utf8(),
    }
}

fn is_frequent(c: char) -> bool {
    // Sorted, and all of the same width: the characters can be searched like an array.
    const WIDTH: usize = 3;
    let (mut low, mut high) = (0, FREQUENT.len() / WIDTH);
    while low < high {
        let middle = (low + high) / 2;
        let found = FREQUENT[middle * WIDTH..].chars().next().unwrap_or_default();
        match found.cmp(&c) {
            std::cmp::Ordering::Equal => return true,
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle,
        }
    }
    false
}

/// The Chinese characters that are one token in both vocabularies.
const FREQUENT: &str = "\
一万三上下不与专业东两个中串为主么义之也书了事二于五些交产享京\
人亿今介从他付代以们件价任份企优会传但位体何余作你使例供価保信\
修倍值停像元先入全公共关其具内円册再写出击分列则初利别到制前力\
功加务动動包化北区十午华单南即历原去县参及友反发取变口只可台右\
号司合同名后向否含听启告员周命和品哈商問器四回因国图土在地场址\
型城基報場填增声处备复外多大天失头女好如始子字存学安宋完定实审\
客家容密对导将小少尔就局展山岁州工左已市布常平年并广序库应店度\
建开异式引张当录形影径待後得微心必志态思性总息您情意感成我或户\
所手打找技投报拉持指按换据排接推提播支收改放政效数整文料断新方\
族无日时明易星是時景更最月有服期木未本机权束条来板构析果查标样\
核格案检模次款止正此步歳段每比民気水求江汽没治法注活流海消清游\
源火点無然片版物特率环现球理生用由电男画界番登的监目直相省看県\
真知码确示社票私种科秒称移程稍税稿空立站章端笑符第等签简算管箱\
米类系素索约级线组经结给络统编网置美老考者而联能自至色节英藏行\
表装西要見见规视角解言計記話読计认议记论设证评试话询该详语误说\
请读调象责败账货购费资起超路身车转软载辑输达过运近还这进连述退\
送选通速造連道邮部都配释里重量金钟钮链销错键长開間関门闭问间队\
阳陆限院除雅集雷需非面音页项预频题额首验高黑";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_costs_the_sum_of_its_lines() {
        let lines = ["the plan: 42 steps\n", "\n", "  数据库 🎉\n", "let camelCase = x1y2;"];
        let sum: usize = lines.iter().map(|line| tokens(line)).sum();
        assert_eq!(tokens(&lines.concat()), sum);
    }

    #[test]
    fn the_rules_are_as_stated() {
        let table = [
            ("", 0),
            ("the", 1),
            ("The plan", 2),
            ("1234567", 3),
            ("a = b", 3),
            ("zqxj", 3),
            ("的", 1),
            ("龘", 3),
            ("🎉", 4),
            ("a\n", 2),
        ];
        for (text, count) in table {
            assert_eq!(tokens(text), count, "{text}");
        }
    }

    #[test]
    fn the_frequent_characters_are_sorted() {
        let all: Vec<char> = FREQUENT.chars().collect();
        assert!(all.is_sorted() && all.iter().all(|c| c.len_utf8() == 3 && is_frequent(*c)));
    }
}
