//! A group of bars per workload, a bar per engine, on a logarithmic scale.

use plotters::coord::Shift;
use plotters::prelude::*;

use super::{Chart, FONT, chart, colour, draw_legend, failure};
use crate::Result;
use crate::plot::medians::Median;

/// Share of a group's width that its bars take.
const FILLED: f64 = 0.8;

pub(super) fn draw<B: DrawingBackend>(medians: &[Median], area: &DrawingArea<B, Shift>) -> Result<()>
where
    B::ErrorType: 'static,
{
    let (mut labels, mut series) = (Vec::new(), Vec::new());
    for median in medians {
        push_new(&mut labels, &median.label);
        push_new(&mut series, &median.series);
    }
    let times = medians.iter().map(|median| median.micros_per_op.max(f64::MIN_POSITIVE));
    let (least, most) = times.fold((f64::MAX, 0f64), |(least, most), time| (least.min(time), most.max(time)));
    let floor = 10f64.powf(least.log10().floor());
    let caption = "Time per operation, less is better";
    let mut chart = chart(area, caption, labels.len() as f64, floor..most * 2.0)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_labels(0)
        .y_desc("µs, logarithmic")
        .label_style((FONT, 15))
        .draw()
        .map_err(failure)?;
    for (index, name) in series.iter().enumerate() {
        let bars = Bars { labels: &labels, medians, floor, index, of: series.len() };
        bars.draw(&mut chart, name)?;
    }
    draw_labels(&labels, &chart, area)?;
    draw_legend(&mut chart, SeriesLabelPosition::UpperLeft)
}

fn push_new<'a>(names: &mut Vec<&'a str>, name: &'a str) {
    if !names.contains(&name) {
        names.push(name);
    }
}

/// The bars of one series.
struct Bars<'a> {
    labels: &'a [&'a str],
    medians: &'a [Median],
    floor: f64,
    index: usize,
    of: usize,
}

impl Bars<'_> {
    fn draw<'a, B: DrawingBackend + 'a>(&self, chart: &mut Chart<'a, B>, series: &str) -> Result<()>
    where
        B::ErrorType: 'static,
    {
        let style = colour(self.index).filled();
        let width = FILLED / self.of as f64;
        let bars = self.medians.iter().filter(|median| median.series == series).map(|median| {
            let group = self.labels.iter().position(|label| *label == median.label).unwrap_or(0);
            let left = group as f64 + (1.0 - FILLED) / 2.0 + self.index as f64 * width;
            Rectangle::new([(left, self.floor), (left + width, median.micros_per_op)], style)
        });
        chart
            .draw_series(bars)
            .map_err(failure)?
            .label(series)
            .legend(move |(x, y)| Rectangle::new([(x, y - 6), (x + 12, y + 6)], style));
        Ok(())
    }
}

/// Writes the names of the groups; every other one a line lower, so that neighbours do not touch.
fn draw_labels<B: DrawingBackend>(
    labels: &[&str],
    chart: &Chart<'_, B>,
    area: &DrawingArea<B, Shift>,
) -> Result<()>
where
    B::ErrorType: 'static,
{
    let plotting = chart.plotting_area();
    let (_, bottom) = plotting.get_pixel_range();
    let anchor = plotters::style::text_anchor::Pos::new(
        plotters::style::text_anchor::HPos::Center,
        plotters::style::text_anchor::VPos::Top,
    );
    let style = TextStyle::from((FONT, 14).into_font()).pos(anchor);
    for (group, label) in labels.iter().enumerate() {
        let (x, _) = plotting.map_coordinate(&(group as f64 + 0.5, 1.0));
        let lower = if group % 2 == 0 { 4 } else { 20 };
        area.draw_text(label, &style, (x, bottom.end + lower)).map_err(failure)?;
    }
    Ok(())
}
