//! What the user chooses: arguments in PVM's and MPI's manner, hostfiles, the environment and the file of settings.

pub(crate) mod arguments;
pub(crate) mod configuration;
pub(crate) mod duration;
pub(crate) mod environment;
pub(crate) mod hostfile;
pub(crate) mod spelling;
pub(crate) mod state;
