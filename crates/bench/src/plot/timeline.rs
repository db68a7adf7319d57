//! The 99.9th percentile and the longest latency over time, on a logarithmic scale.

use plotters::coord::Shift;
use plotters::prelude::*;

use super::{FONT, Picture, colour, failure};
use crate::Result;
use crate::meter::Interval;
use crate::report::Report;

/// A line to draw: its name and its points.
type Line = (String, Vec<(f64, f64)>);

pub(super) struct Timeline {
    lines: Vec<Line>,
}

impl Timeline {
    /// The first round's latencies over time; `None` if none were recorded.
    pub(super) fn of(reports: &[Report]) -> Option<Self> {
        let lines: Vec<_> = reports
            .iter()
            .filter(|report| report.round == 0 && !report.timeline.is_empty())
            .flat_map(|report| {
                let line = |what: &str, value: fn(&Interval) -> f64| {
                    let points =
                        report.timeline.iter().map(|interval| (interval.at_seconds, value(interval)));
                    (format!("{} {}, {what}", report.engine, report.workload), points.collect::<Vec<_>>())
                };
                [
                    line("p99.9", |interval| interval.p999_micros),
                    line("longest", |interval| interval.max_micros),
                ]
            })
            .collect();
        (!lines.is_empty()).then_some(Self { lines })
    }

    fn points(&self) -> impl Iterator<Item = &(f64, f64)> {
        self.lines.iter().flat_map(|(_, points)| points)
    }
}

impl Picture for Timeline {
    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Result<()>
    where
        B::ErrorType: 'static,
    {
        let end = self.points().fold(0f64, |end, (at, _)| end.max(*at));
        let most = self.points().fold(1f64, |most, (_, micros)| most.max(*micros));
        let mut chart = ChartBuilder::on(area)
            .caption("Latency over time, each tenth of a second", (FONT, 24))
            .margin(16)
            .x_label_area_size(40)
            .y_label_area_size(80)
            .build_cartesian_2d(0.0..end, (0.1..most * 2.0).log_scale())
            .map_err(failure)?;
        chart
            .configure_mesh()
            .x_desc("seconds")
            .y_desc("µs, logarithmic")
            .label_style((FONT, 15))
            .draw()
            .map_err(failure)?;
        for (index, (name, points)) in self.lines.iter().enumerate() {
            let line = LineSeries::new(points.iter().copied(), colour(index));
            chart
                .draw_series(line)
                .map_err(failure)?
                .label(name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour(index)));
        }
        chart
            .configure_series_labels()
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK)
            .label_font((FONT, 16))
            .draw()
            .map_err(failure)
    }
}
