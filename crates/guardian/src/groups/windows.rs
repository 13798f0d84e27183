//! Job objects that end with the last handle on them: the system closes ours however Lacon dies.
//!
//! A child is put into its job right after it was started. What it starts in turn is in the job too, but for what it started before
//! that, within microseconds.

#![expect(unsafe_code, reason = "job objects are reached by the system's own calls alone")]

use std::collections::HashMap;
use std::mem::size_of;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use windows_sys::Win32::Foundation::{HANDLE, STILL_ACTIVE};
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE, JOBOBJECT_BASIC_PROCESS_ID_LIST,
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectBasicProcessIdList, JobObjectExtendedLimitInformation,
    QueryInformationJobObject, SetInformationJobObject, TerminateJobObject,
};
use windows_sys::Win32::System::ProcessStatus::{K32GetProcessMemoryInfo, PROCESS_MEMORY_COUNTERS};
use windows_sys::Win32::System::Threading::{
    GetExitCodeProcess, OpenProcess, PROCESS_QUERY_LIMITED_INFORMATION, PROCESS_SET_QUOTA, PROCESS_TERMINATE,
};

/// The most processes of a group whose memory is summed.
const MAX_PROCESSES: usize = 1024;

static JOBS: Mutex<Option<HashMap<u32, OwnedHandle>>> = Mutex::new(None);

fn jobs() -> MutexGuard<'static, Option<HashMap<u32, OwnedHandle>>> {
    JOBS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A job is given after the start; nothing has to be said before.
pub(super) fn of_its_own(_: &mut Command) {}

pub(super) fn watch(group: u32) {
    match guarded(group) {
        Some(job) => drop(jobs().get_or_insert_default().insert(group, job)),
        None => tracing::debug!(
            group,
            "no job: this child process ends with Lacon only when it ends in order"
        ),
    }
}

/// Closing the last handle ends what is left.
pub(super) fn forget(group: u32) {
    drop(jobs().get_or_insert_default().remove(&group));
}

pub(super) fn terminate(_: u32) {}

pub(super) fn kill(group: u32) {
    if let Some(job) = jobs().get_or_insert_default().get(&group) {
        // SAFETY: the handle is open for as long as it is in the map.
        unsafe { TerminateJobObject(job.as_raw_handle() as HANDLE, 1) };
    }
}

pub(super) fn memory(group: u32) -> u64 {
    members(group).into_iter().map(memory_of).sum()
}

pub(super) fn is_running(process: u32) -> bool {
    let Some(process) = open(process, PROCESS_QUERY_LIMITED_INFORMATION) else {
        return false;
    };
    let mut code = 0;
    // SAFETY: the handle is open, and `code` outlives the call.
    let asked = unsafe { GetExitCodeProcess(process.as_raw_handle() as HANDLE, &mut code) };
    asked != 0 && code == STILL_ACTIVE.cast_unsigned()
}

fn open(process: u32, rights: u32) -> Option<OwnedHandle> {
    // SAFETY: no pointer is passed; what comes back is null or ours to close.
    let handle = unsafe { OpenProcess(rights, 0, process) };
    // SAFETY: it is not null, and nobody else closes it.
    (!handle.is_null()).then(|| unsafe { OwnedHandle::from_raw_handle(handle as _) })
}

/// A job that ends with us, with the process in it.
fn guarded(process: u32) -> Option<OwnedHandle> {
    let process = open(process, PROCESS_SET_QUOTA | PROCESS_TERMINATE)?;
    // SAFETY: a job without a name and with the usual rights; what comes back is null or ours to close.
    let job = unsafe { CreateJobObjectW(std::ptr::null(), std::ptr::null()) };
    if job.is_null() {
        return None;
    }
    // SAFETY: it is not null, and nobody else closes it.
    let job = unsafe { OwnedHandle::from_raw_handle(job as _) };
    let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
    limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
    // SAFETY: the structure is the one of this class, with its own size, and outlives the call.
    let limited = unsafe {
        SetInformationJobObject(
            job.as_raw_handle() as HANDLE,
            JobObjectExtendedLimitInformation,
            (&raw const limits).cast(),
            size_of::<JOBOBJECT_EXTENDED_LIMIT_INFORMATION>() as u32,
        )
    };
    // SAFETY: both handles are open.
    let assigned = limited != 0
        && unsafe { AssignProcessToJobObject(job.as_raw_handle() as HANDLE, process.as_raw_handle() as HANDLE) } != 0;
    assigned.then_some(job)
}

/// The processes of a group.
fn members(group: u32) -> Vec<u32> {
    let jobs = jobs();
    let Some(job) = jobs.as_ref().and_then(|jobs| jobs.get(&group)) else {
        return Vec::new();
    };
    // Two numbers of 32 bits, then one of the size of a pointer for each process.
    const HEAD: usize = std::mem::offset_of!(JOBOBJECT_BASIC_PROCESS_ID_LIST, ProcessIdList) / size_of::<usize>();
    let mut list = vec![0usize; HEAD + MAX_PROCESSES];
    // SAFETY: the buffer is aligned like the structure, has the size that is said and outlives the call.
    let asked = unsafe {
        QueryInformationJobObject(
            job.as_raw_handle() as HANDLE,
            JobObjectBasicProcessIdList,
            list.as_mut_ptr().cast(),
            (list.len() * size_of::<usize>()) as u32,
            std::ptr::null_mut(),
        )
    };
    if asked == 0 {
        return Vec::new();
    }
    // SAFETY: the buffer begins with the structure, which the call has filled.
    let listed = unsafe { (*list.as_ptr().cast::<JOBOBJECT_BASIC_PROCESS_ID_LIST>()).NumberOfProcessIdsInList };
    let listed = (listed as usize).min(MAX_PROCESSES);
    list[HEAD..HEAD + listed]
        .iter()
        .map(|process| *process as u32)
        .collect()
}

fn memory_of(process: u32) -> u64 {
    let Some(process) = open(process, PROCESS_QUERY_LIMITED_INFORMATION) else {
        return 0;
    };
    let mut counters = PROCESS_MEMORY_COUNTERS::default();
    let size = size_of::<PROCESS_MEMORY_COUNTERS>() as u32;
    // SAFETY: the structure has the size that is said and outlives the call.
    let asked = unsafe { K32GetProcessMemoryInfo(process.as_raw_handle() as HANDLE, &mut counters, size) };
    if asked == 0 { 0 } else { counters.WorkingSetSize as u64 }
}
