//! The example of README.md: run a scene of the gallery and ask a question.

use tippe::run::{Expression, Recording, Subjects};
use tippe::scene::Scene;
use tippe::{Model, Settings, State, simulate};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let scene = Scene::load("bouncing_ball", &[("e".into(), "0.5".into())])?;
    let model = Model::compile(&scene)?;
    let mut recording = Recording::new(Subjects::of(&model));
    let mut state = State::start(&model);
    let summary = simulate(&model, &mut state, 2.0, &Settings::from_scene(&scene), &mut recording)?;
    let height = Expression::parse("max(ball.position.z)", &recording.subjects)?.value(&recording, None)?;
    println!("{} steps, residual {:.1e} J, height {height} m", summary.steps, summary.energy.residual());
    Ok(())
}
