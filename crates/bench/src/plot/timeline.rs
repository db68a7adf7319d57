//! The 99.9th percentile and the longest latency over time, on a logarithmic scale, with the targets of both.

use plotters::coord::Shift;
use plotters::prelude::*;

use super::{Chart, FONT, Picture, chart, colour, draw_legend, failure};
use crate::Result;
use crate::meter::Interval;
use crate::report::Report;

/// A line to draw: its name and its points.
type Line = (String, Vec<(f64, f64)>);

/// Targets for latencies while a program writes without pause.
const TARGETS: [(&str, f64); 2] = [("p99.9 should be below 1 ms", 1e3), ("the longest below 50 ms", 50e3)];

/// The colours of the lines in their order: dark for a 99.9th percentile, light for the longest latency beside it.
const COLOURS: [usize; 8] = [0, 1, 5, 2, 3, 7, 6, 4];

pub(super) struct Timeline {
    workload: String,
    lines: Vec<Line>,
}

impl Timeline {
    /// The first round's latencies over time, for the first workload that has any; `None` if none were recorded.
    pub(super) fn of(reports: &[Report]) -> Option<Self> {
        let with_timeline = || reports.iter().filter(|report| !report.timeline.is_empty());
        let Report { workload, step, .. } = with_timeline().next()?;
        let lines = with_timeline()
            .filter(|report| report.round == 0 && report.step == *step)
            .flat_map(|report| {
                let line = |what: &str, value: fn(&Interval) -> f64| {
                    let points =
                        report.timeline.iter().map(|interval| (interval.at_seconds, value(interval)));
                    let series = format!("{}, {}: {what}", report.engine, report.configuration);
                    (series, points.collect::<Vec<_>>())
                };
                [
                    line("p99.9", |interval| interval.p999_micros),
                    line("longest", |interval| interval.max_micros),
                ]
            })
            .collect();
        Some(Self { workload: workload.clone(), lines })
    }

    fn draw_targets<'a, B: DrawingBackend + 'a>(chart: &mut Chart<'a, B>, end: f64) -> Result<()>
    where
        B::ErrorType: 'static,
    {
        const DASH_PIXELS: u32 = 8;
        for (name, micros) in TARGETS {
            let ends = [(0.0, micros), (end, micros)];
            let line = DashedLineSeries::new(ends, DASH_PIXELS, DASH_PIXELS, BLACK.into());
            chart
                .draw_series(line)
                .map_err(failure)?
                .label(name)
                .legend(|(x, y)| PathElement::new([(x, y), (x + 6, y)], BLACK));
        }
        Ok(())
    }

    fn points(&self) -> impl Iterator<Item = &(f64, f64)> {
        self.lines.iter().flat_map(|(_, points)| points)
    }
}

impl Picture for Timeline {
    fn size_pixels(&self) -> (u32, u32) {
        (1400, 700)
    }

    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Result<()>
    where
        B::ErrorType: 'static,
    {
        let end = self.points().fold(0f64, |end, (at, _)| end.max(*at));
        let highest_target = TARGETS.iter().fold(0f64, |most, (_, micros)| most.max(*micros));
        let most = self.points().fold(highest_target, |most, (_, micros)| most.max(*micros));
        let caption = format!("{} over time, each second", self.workload);
        let mut chart = chart(area, &caption, end, 0.1..most * 2.0)?;
        chart
            .configure_mesh()
            .x_desc("seconds")
            .x_label_formatter(&|seconds| seconds.to_string())
            .y_desc("µs, logarithmic")
            .y_label_formatter(&|micros| micros.to_string())
            .label_style((FONT, 15))
            .draw()
            .map_err(failure)?;
        for (index, (name, points)) in self.lines.iter().enumerate() {
            let style = colour(name, COLOURS[index % COLOURS.len()]).stroke_width(2);
            let line = LineSeries::new(points.iter().copied(), style);
            chart
                .draw_series(line)
                .map_err(failure)?
                .label(name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], style));
        }
        Self::draw_targets(&mut chart, end)?;
        draw_legend(&mut chart, SeriesLabelPosition::LowerMiddle)
    }
}
