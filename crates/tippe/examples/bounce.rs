//! The example of README.md: run a scene of the gallery and ask a question.

use tippe::Simulation;
use tippe::run::{Expression, Recording, Subjects};
use tippe::scene::Scene;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let scene = Scene::load("bouncing_ball", &[("e".into(), "0.5".into())])?;
    let mut simulation = Simulation::of_scene(&scene)?;
    let mut recording = Recording::new(Subjects::of(simulation.model()));
    let summary = simulation.advance(2.0, &mut recording)?;
    let height = Expression::parse("max(ball.position.z)", &recording.subjects)?.value(&recording, None)?;
    println!("{} steps, residual {:.1e} J, height {height} m", summary.steps, summary.energy.residual());
    Ok(())
}
