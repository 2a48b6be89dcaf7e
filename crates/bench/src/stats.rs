//! Medians, geometric means and spreads of positive samples.
//!
//! They are implemented here because each takes only a few lines.

/// Returns the median: the mean of the two middle samples when their number is even.
///
/// Returns `None` if there are no samples.
pub(crate) fn median(samples: &[f64]) -> Option<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n % 2 == 1 => Some(sorted[middle]),
        _ => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
    }
}

/// Returns the geometric mean. It is the right mean for ratios because it does not depend on which
/// engine is the baseline.
///
/// Returns `None` if there are no ratios or one of them is not positive.
pub(crate) fn geometric_mean(ratios: &[f64]) -> Option<f64> {
    if ratios.is_empty() || ratios.iter().any(|ratio| ratio.is_nan() || *ratio <= 0.0) {
        return None;
    }
    let logarithms: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
    Some((logarithms / ratios.len() as f64).exp())
}

/// Returns the index and value of the smallest sample.
pub(crate) fn minimum(samples: &[f64]) -> Option<(usize, f64)> {
    samples.iter().copied().enumerate().min_by(|a, b| a.1.total_cmp(&b.1))
}

/// Returns the index and value of the largest sample.
pub(crate) fn maximum(samples: &[f64]) -> Option<(usize, f64)> {
    samples.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1))
}

/// Returns the median absolute deviation as a share of the median: a measure of the noise that a
/// single outlier does not dominate.
pub(crate) fn relative_deviation(samples: &[f64]) -> Option<f64> {
    let middle = median(samples)?;
    let deviations: Vec<f64> = samples.iter().map(|sample| (sample - middle).abs()).collect();
    Some(median(&deviations)? / middle)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: Option<f64>, b: f64) {
        let a = a.expect("a value");
        assert!((a - b).abs() < 1e-12, "{a} is not {b}");
    }

    #[test]
    fn median_of_odd_even_and_unsorted() {
        close(median(&[3.0]), 3.0);
        close(median(&[9.0, 1.0, 5.0]), 5.0);
        close(median(&[4.0, 1.0, 3.0, 2.0]), 2.5);
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn median_ignores_an_outlier() {
        close(median(&[1.0, 1.1, 0.9, 100.0, 1.0]), 1.0);
    }

    #[test]
    fn geometric_mean_of_inverses_is_one() {
        close(geometric_mean(&[4.0, 0.25]), 1.0);
        close(geometric_mean(&[2.0, 8.0]), 4.0);
        close(geometric_mean(&[1.5]), 1.5);
    }

    #[test]
    fn geometric_mean_does_not_depend_on_the_baseline() {
        let ratios = [0.7, 3.2, 1.1, 12.0];
        let inverses: Vec<f64> = ratios.iter().map(|r| 1.0 / r).collect();
        close(geometric_mean(&inverses), 1.0 / geometric_mean(&ratios).unwrap());
    }

    #[test]
    fn geometric_mean_refuses_what_has_no_logarithm() {
        assert_eq!(geometric_mean(&[]), None);
        assert_eq!(geometric_mean(&[1.0, 0.0]), None);
        assert_eq!(geometric_mean(&[1.0, -2.0]), None);
        assert_eq!(geometric_mean(&[f64::NAN]), None);
    }

    #[test]
    fn extremes_carry_their_index() {
        assert_eq!(minimum(&[3.0, 0.5, 2.0]), Some((1, 0.5)));
        assert_eq!(maximum(&[3.0, 0.5, 2.0]), Some((0, 3.0)));
        assert_eq!(minimum(&[]), None);
    }

    #[test]
    fn deviation_is_relative_to_the_median() {
        close(relative_deviation(&[2.0, 2.0, 2.0]), 0.0);
        close(relative_deviation(&[9.0, 10.0, 11.0]), 0.1);
        assert_eq!(relative_deviation(&[]), None);
    }
}
