//! Tests of the library as a whole.

mod bad_input;
mod cables;
mod cams;
mod capability;
mod common;
mod documents;
mod gallery;
mod house;
mod implied;
mod layering;
mod marks;
mod mechanisms;
mod optimize;
mod program;
mod random_scenes;
mod readable;
mod realtime;
mod realtime_elements;
mod ropes;
mod scene_grains;
mod scene_solids;
mod silence;
mod simulation;
mod statics;
mod whole;
