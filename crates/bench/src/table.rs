//! Text tables with a left-aligned first column and right-aligned numbers.

/// Rows of cells; the first row is the heading, an empty row becomes a rule.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    pub(crate) fn rule(&mut self) {
        self.rows.push(Vec::new());
    }

    /// Returns the table as lines, each column as wide as its widest cell.
    pub(crate) fn render(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let total = widths.iter().sum::<usize>() + 2 * columns.saturating_sub(1);
        let mut text = String::new();
        for row in &self.rows {
            if row.is_empty() {
                text.push_str(&"-".repeat(total));
            }
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                let width = widths[column];
                match column {
                    0 => line.push_str(&format!("{cell:<width$}")),
                    _ => line.push_str(&format!("  {cell:>width$}")),
                }
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

/// Returns a number with this many decimals, or a dash if there is no number.
pub(crate) fn number(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| "-".to_string(), |value| format!("{value:.decimals$}"))
}

/// Returns a ratio as text that is marked as a ratio.
pub(crate) fn times(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_string(), |value| format!("{value:.2}x"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut table = Table::default();
        table.row(vec!["program".into(), "s".into()]);
        table.rule();
        table.row(vec!["a".into(), number(Some(12.3456), 2)]);
        table.row(vec!["b".into(), times(None)]);
        let expected = "program      s\n--------------\na        12.35\nb            -\n";
        assert_eq!(table.render(), expected);
    }
}
