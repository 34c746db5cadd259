use std::sync::{Arc, Mutex, PoisonError};

use crate::render::error::RenderError;

/// A graphics device and its queue. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Gpu {
    /// The wgpu instance that the adapter belongs to.
    pub instance: wgpu::Instance,
    /// The adapter.
    pub adapter: wgpu::Adapter,
    /// The device.
    pub device: wgpu::Device,
    /// Its queue.
    pub queue: wgpu::Queue,
    errors: Arc<Mutex<Option<String>>>,
}

impl Gpu {
    /// A device without a window. `WGPU_BACKEND` picks the back end; without it Vulkan is tried before all others.
    ///
    /// # Errors
    /// When there is no adapter or it gives no device.
    pub fn headless() -> Result<Self, RenderError> {
        let fallback = wgpu::Backends::all();
        let choices = match wgpu::Backends::from_env() {
            Some(backends) => vec![backends],
            None => vec![wgpu::Backends::VULKAN, fallback],
        };
        let mut last = RenderError::NoAdapter("no back end is compiled in".to_owned());
        for backends in choices {
            let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle_from_env();
            descriptor.backends = backends;
            match Self::request(wgpu::Instance::new(descriptor), None) {
                Ok(gpu) => return Ok(gpu),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// A device that can present to `surface`.
    ///
    /// # Errors
    /// As [`Gpu::headless`].
    pub fn for_surface(
        instance: wgpu::Instance,
        surface: &wgpu::Surface<'_>,
    ) -> Result<Self, RenderError> {
        Self::request(instance, Some(surface))
    }

    fn request(
        instance: wgpu::Instance,
        surface: Option<&wgpu::Surface<'_>>,
    ) -> Result<Self, RenderError> {
        let options = wgpu::RequestAdapterOptions {
            power_preference: wgpu::PowerPreference::from_env()
                .unwrap_or(wgpu::PowerPreference::HighPerformance),
            compatible_surface: surface,
            ..wgpu::RequestAdapterOptions::default()
        };
        let adapter = pollster::block_on(instance.request_adapter(&options))
            .map_err(|error| RenderError::NoAdapter(error.to_string()))?;
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("luxgrid device"),
            // All that the adapter has: array layers and storage buffers are what large maps run out of first.
            required_limits: adapter.limits(),
            ..wgpu::DeviceDescriptor::default()
        };
        let (device, queue) =
            pollster::block_on(adapter.request_device(&descriptor)).map_err(|error| {
                RenderError::NoDevice {
                    adapter: adapter.get_info().name,
                    reason: error.to_string(),
                }
            })?;
        let errors = Arc::new(Mutex::new(None));
        let store = Arc::clone(&errors);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            log::error!("graphics device: {error}");
            let mut slot = store.lock().unwrap_or_else(PoisonError::into_inner);
            slot.get_or_insert(error.to_string());
        }));
        Ok(Self {
            instance,
            adapter,
            device,
            queue,
            errors,
        })
    }

    /// Name, back end and driver of the adapter, for display.
    pub fn description(&self) -> String {
        let info = self.adapter.get_info();
        let driver = format!("{} {}", info.driver, info.driver_info);
        format!("{} ({}, {})", info.name, info.backend, driver.trim())
    }

    /// The first device error since the last call that no call returned; it is also in the log.
    pub fn take_error(&self) -> Option<String> {
        self.errors
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    /// Runs `work`, which creates GPU objects, and returns what the device refused about it.
    pub(super) fn checked<T>(&self, work: impl FnOnce() -> T) -> Result<T, RenderError> {
        let memory = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let validation = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let value = work();
        let invalid = pollster::block_on(validation.pop());
        let exhausted = pollster::block_on(memory.pop());
        match exhausted.or(invalid) {
            Some(error) => Err(RenderError::Device(error.to_string())),
            None => Ok(value),
        }
    }
}
