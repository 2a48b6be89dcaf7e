//! Generated numerals: valid ones of all forms, and similar texts.

use super::doubles::double;
use super::halfway::halfway;
use super::random::Random;

/// Numerals that are hard to parse or to reject.
pub(crate) const HARD: &[&str] = &[
    // Limits of the range, of normal numbers, of 53 bits.
    "2.2250738585072011e-308",
    "2.2250738585072012e-308",
    "2.2250738585072014e-308",
    "2.22507385850720113605740979670913197593481954635164564802342610972482222202107694551652\
     9523908135087914149158913039621106870086438694594645527657207407820621743379988141063267\
     3292535522868813721490129811224514518898490572223072852551331557550159143974763979834118\
     0199932396254828901710708185069063066665599493827577257201576306269066333264756530000924\
     5888316433037779791869612049497390377829704905051080609940730262937128958950003583799967\
     2072543043602840788957717961509455167482434710307026091446215722898802581825451803257070\
     1886087211312807951223342628836862232150377566662250398253433597456888442390026549819838\
     5487948292206894721689831099698365846814022854243330660339850886445804001034933970427567\
     1864433837704860378616227717385456230658746790140867233276367187512345678901234567890123\
     45678901e-308",
    "1.7976931348623157e308",
    "1.7976931348623158e308",
    "1.7976931348623159e308",
    "1.797693134862315807e308",
    "1.797693134862315808e308",
    "1797693134862315807937289714053034150799341327100378269361737789804449682927647509466490\
     1797758720709633028641669288791094655554785194040263065748867150582068190890200070838367\
     6273854845817711531764475730270069855571366959622842914819860834936475292719074168444365\
     510704342711559699508093042880",
    "1e308",
    "1e309",
    "2e308",
    "-1e309",
    "4.9e-324",
    "2.4703282292062327208e-324",
    "2.4703282292062327209e-324",
    "2.470328229206232720882843964341106861825299013071623822127928412503377536351043e-324",
    "2e-324",
    "3e-324",
    "1e-400",
    "1e-99999999999999999999",
    "1e99999999999999999999",
    "0e99999999999999999999",
    "0.0e-99999999999999999999",
    "9007199254740991",
    "9007199254740993.0",
    "9007199254740993.00000000000000000000000000000000000001",
    "9007199254740992.99999999999999999999999999999999999999",
    "9007199254740995.0",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "18446744073709551615",
    "18446744073709551616",
    "9223372036854775807.0",
    "9223372036854774784.5",
    // Known problems of strtod implementations.
    "6929495644600919.5",
    "3.7455744005952583e15",
    "0.500000000000000166533453693773481063544750213623046875",
    "3.518437208883201171875e13",
    "62.5364939768271845828",
    "8.10109172351e-10",
    "1.50000000000000011102230246251565",
    "6.8985654654654654e-320",
    "0.00000000000000000000000000000000000001175494350822287507968736537222245677818665556772\
     0875215087517062784172594547271728515625",
    "2.2222222222223e-322",
    "5e+125",
    "69e+267",
    "999e-026",
    "7861e-034",
    "75569e-254",
    "928609e-261",
    "9210917e+080",
    "84863171e+114",
    "653777767e+273",
    "5232604057e-298",
    "27235667517e-109",
    "653532977297e-123",
    "3142213164987e-294",
    "46202199371337e-072",
    "231010996856685e-073",
    "9324754620109615e+212",
    "78459735791271921e+049",
    "272104041512242479e+200",
    "6802601037806061975e+198",
    "20505426358836677347e-221",
    "836168422905420598437e-234",
    "4891559871276714924261e+222",
    "1448997445238699",
    "358416272e-33",
    "9.5367431640625e-07",
    "7.1202363472230444e-307",
    "1.00000000000000011102230246251565404236316680908203125",
    "1.00000000000000011102230246251565404236316680908203124",
    "1.00000000000000011102230246251565404236316680908203126",
    "1.00000000000000033306690738754696212708950042724609375",
    "123456789012345678901234567890",
    "1e23",
    "8.5e22",
    "5e-324",
    "0x1p-1074",
    "0x1p-1075",
    "0x1.0000000000000000000000001p-1075",
    "0x0.8p-1074",
    "0x1.8p-1074",
    "0x1.fffffffffffffp1023",
    "0x1.fffffffffffff8p1023",
    "0x1.fffffffffffff7fffffffffffffffffp1023",
    "0x1.00000000000008p0",
    "0x1.000000000000080000000000000000000001p0",
    "0x1.00000000000018p0",
    "0x.0000000000000000000000000000000001p120",
    "0x1p99999999999",
    "0x1p-99999999999",
    "0x0p99999999999",
    "0x0.0p-99999999999",
    "0x7fffffffffffffff",
    "0x8000000000000000",
    "0xffffffffffffffffffffffff",
    "-0xffffffffffffffff",
    "-0x0",
    "-0",
    "-0.0",
    "0x.8",
    "0x8.",
    "0x.p1",
    "0x",
    "0x.",
    "0xp1",
    "0x1p",
    "0x1p+",
    "0x1pa",
    "0x1e5",
    "0X1P+1",
    "1e",
    "1e+",
    "1e-",
    ".",
    ".e1",
    "e1",
    "+",
    "-",
    "",
    " ",
    "+-1",
    "--1",
    "- 1",
    "1 1",
    "1.2.3",
    "1..2",
    ".5",
    "5.",
    "5.e1",
    "inf",
    "-inf",
    "infinity",
    "nan",
    "NaN",
    "nan(1)",
    "0x1.8p1n",
    "1f",
    "1l",
    "1u",
    "1_000",
    "1,5",
    " \t\n\x0b\x0c\r1 \t\n\x0b\x0c\r",
    "1\0",
    "\x001",
    "1\0 ",
    "\u{a0}1",
    "0b1",
    "0o7",
    "01",
    "00",
    "1e1.0",
    "1E5",
    "1e+05",
    "1e0000000000000000000005",
    "0000000000000000000000000000000000000001",
    "0x00000000000000000000000000000000000001",
    "0.00000000000000000000000000000000000001e38",
];

fn digits(random: &mut Random, count: usize) -> String {
    (0..count).map(|_| char::from(b'0' + random.below(10) as u8)).collect()
}

/// Generates a run of digits: often few, often nines or zeros, sometimes very many.
fn run(random: &mut Random) -> String {
    let count = match random.below(12) {
        0 => 0,
        1..=5 => 1 + random.below(6),
        6..=9 => 10 + random.below(12),
        10 => 20 + random.below(40),
        _ => 60 + random.below(300),
    };
    match random.below(8) {
        0 => "9".repeat(count),
        1 => "0".repeat(count),
        2 => digits(random, count / 2) + &"0".repeat(count / 2) + &digits(random, 1),
        _ => digits(random, count),
    }
}

fn exponent(random: &mut Random) -> i64 {
    match random.below(8) {
        0..=2 => random.below(40) as i64 - 20,
        3 => -300 - random.below(50) as i64,
        4 => 290 + random.below(25) as i64,
        5..=6 => random.below(680) as i64 - 340,
        _ => random.integer(),
    }
}

fn decimal(random: &mut Random) -> String {
    let mut text = run(random);
    if random.one_in(2) {
        text = text + "." + &run(random);
    }
    if random.one_in(2) {
        let sign = ["", "+", "-"][random.below(3)];
        let power = exponent(random);
        text += &format!(
            "{}{}{}",
            ["e", "E"][random.below(2)],
            if power < 0 { "" } else { sign },
            power
        );
    }
    text
}

fn hexadecimal(random: &mut Random) -> String {
    let digits = |random: &mut Random| {
        let count = [0, 1, 2, 3, 8, 13, 14, 15, 16, 17, 20, 30, 60][random.below(13)];
        let all: &[u8] = [&b"0123456789abcdefABCDEF"[..], b"0", b"f", b"08"][random.below(4)];
        (0..count).map(|_| char::from(*random.pick(all))).collect::<String>()
    };
    let mut text = String::from(["0x", "0X"][random.below(2)]) + &digits(random);
    if random.one_in(2) {
        text = text + "." + &digits(random);
    }
    if random.one_in(2) {
        let power = match random.below(4) {
            0 => random.below(20) as i64 - 10,
            1 => -1000 - random.below(200) as i64,
            2 => random.below(2400) as i64 - 1200,
            _ => exponent(random),
        };
        text += &format!("{}{power}", ["p", "P"][random.below(2)]);
    }
    text
}

/// Generates a numeral halfway between two doubles, exactly or up to the last digit.
fn near_halfway(random: &mut Random) -> String {
    let x = loop {
        let x = double(random);
        if x.is_finite() {
            break x;
        }
    };
    let (mut digits, power) = halfway(x);
    match random.below(4) {
        0 => {}
        1 => {
            // The numeral is smaller by one unit of the last digit.
            let last = digits.pop().unwrap_or('1');
            digits.push(if last > '0' { char::from(last as u8 - 1) } else { '0' });
            digits.push('9');
            return format!("{digits}e{}", power - 1);
        }
        2 => {
            digits += &"0".repeat(random.below(30));
            digits.push('1');
            let shift = digits.len() as i32 - halfway(x).0.len() as i32;
            return format!("{digits}e{}", power - shift);
        }
        _ => {
            // The numeral is truncated, so that the remaining digits decide.
            let keep = (1 + random.below(25)).min(digits.len());
            let dropped = digits.len() - keep;
            digits.truncate(keep);
            return format!("{digits}e{}", power + dropped as i32);
        }
    }
    if power < 0 && (power.unsigned_abs() as usize) < digits.len() && random.one_in(2) {
        digits.insert(digits.len() - power.unsigned_abs() as usize, '.');
        return digits;
    }
    format!("{digits}e{power}")
}

/// Generates a text that is mostly a numeral.
pub(crate) fn numeral(random: &mut Random) -> Vec<u8> {
    let mut text = match random.below(20) {
        0..=9 => decimal(random),
        10..=12 => hexadecimal(random),
        13 => near_halfway(random),
        14 => format!("{:?}", double(random)),
        15 => format!("{:e}", double(random)),
        16 => format!("{:.1$e}", double(random), random.below(30)),
        17 => random.integer().to_string(),
        18 => format!("{:.1$}", double(random), random.below(30)),
        _ => (*random.pick(HARD)).to_owned(),
    }
    .into_bytes();
    if random.one_in(4) {
        text.insert(0, *random.pick(b"+-"));
    }
    if random.one_in(20) {
        text.insert(0, *random.pick(b" \t\n\x0b\x0c\r"));
        text.push(*random.pick(b" \t\n\x0b\x0c\r\0"));
    }
    if random.one_in(10) {
        random.damage(&mut text, b"0123456789abcdefxXpPeE.+-- _\0ni\xff");
    }
    text
}
