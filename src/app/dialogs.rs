use std::path::PathBuf;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::time::{Duration, Instant};

use crate::view::{Command, FilePurpose, LoadedMap};

/// A dialog that ends sooner than this was never shown: the system has no portal and no helper program. A person takes
/// longer.
const SHORTEST_ANSWER: Duration = Duration::from_millis(200);

/// A file dialog on its own thread.
#[derive(Debug)]
pub(super) struct Dialog {
    purpose: FilePurpose,
    answer: Receiver<(Option<PathBuf>, Duration)>,
}

impl Dialog {
    /// Shows a dialog. The thread is not joined: a system dialog cannot be closed from here, and leaving the program must
    /// not wait for it.
    pub(super) fn open(
        purpose: FilePurpose,
        map: Option<&LoadedMap>,
        wake: impl Fn() + Send + 'static,
    ) -> std::io::Result<Self> {
        let (send, answer) = sync_channel(1);
        let beside = map.and_then(|map| map.file.writable()?.parent().map(PathBuf::from));
        let name = map.map(LoadedMap::file_name).unwrap_or_default();
        std::thread::Builder::new()
            .name("file dialog".to_owned())
            .spawn(move || {
                let started = Instant::now();
                let mut dialog = rfd::FileDialog::new();
                if let Some(folder) = beside {
                    dialog = dialog.set_directory(folder);
                }
                let path = match purpose {
                    FilePurpose::Open => dialog
                        .set_title("Open map")
                        .add_filter("Maps", &["bsp", "pk3"])
                        .pick_file(),
                    FilePurpose::Lights => dialog
                        .set_title("Take lights from")
                        .add_filter("Map sources and entity files", &["map", "ent"])
                        .pick_file(),
                    FilePurpose::SaveAs => dialog
                        .set_title("Save map as")
                        .set_file_name(name)
                        .add_filter("Maps", &["bsp"])
                        .save_file(),
                };
                // Nobody listens when the program is being left.
                let _ = send.send((path, started.elapsed()));
                wake();
            })?;
        Ok(Self { purpose, answer })
    }

    /// The answer, once: `Err` while the dialog is open, `Ok(None)` when it was cancelled.
    pub(super) fn poll(&self) -> Result<Option<Command>, TryRecvError> {
        let command = match self.answer.try_recv() {
            Ok((Some(path), _)) => Some(match self.purpose {
                FilePurpose::Open => Command::OpenPath(path),
                FilePurpose::SaveAs => Command::SaveAs(path),
                FilePurpose::Lights => Command::TakeLights(path),
            }),
            Ok((None, after)) if after < SHORTEST_ANSWER => {
                Some(Command::DialogUnavailable(self.purpose))
            }
            Ok((None, _)) => None,
            Err(TryRecvError::Empty) => return Err(TryRecvError::Empty),
            // The dialog library panicked.
            Err(TryRecvError::Disconnected) => Some(Command::DialogUnavailable(self.purpose)),
        };
        Ok(command)
    }
}
