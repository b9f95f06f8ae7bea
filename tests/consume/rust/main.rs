// Lists a bucket by what bindgen makes of dataflux.h with its defaults: no cast of a constant.
#![allow(non_camel_case_types, non_upper_case_globals, dead_code)]

mod dataflux {
    include!(concat!(env!("BINDINGS"), "/dataflux.rs"));
}
use dataflux::*;
use std::ffi::{CStr, CString};
use std::{mem, ptr};

unsafe fn list(bucket: &CString) -> Result<u64, *mut dataflux_error> {
    let (mut err, mut client) = (ptr::null_mut(), ptr::null_mut());
    let (mut op, mut listing) = (ptr::null_mut(), ptr::null_mut());
    let mut options = mem::zeroed::<dataflux_list_options>();
    dataflux_list_options_init(&mut options, mem::size_of_val(&options) as _);
    options.bucket = bucket.as_ptr();
    let status: dataflux_status = dataflux_client_create(ptr::null(), &mut client, &mut err);
    if status != DATAFLUX_OK
        || dataflux_list(client, &options, ptr::null_mut(), 0, &mut op, &mut err) != DATAFLUX_OK
        || dataflux_operation_wait(op, -1, &mut err) != DATAFLUX_OK
        || dataflux_operation_take_listing(op, &mut listing, &mut err) != DATAFLUX_OK
    {
        return Err(err);
    }
    let size = dataflux_listing_size(listing);
    dataflux_listing_free(listing);
    dataflux_operation_free(op);
    dataflux_client_free(client);
    // Flags are of the type of the members that hold them.
    let flags: u32 = DATAFLUX_RECORD_VERIFIED | DATAFLUX_RECORD_END;
    assert_eq!(flags, 3);
    Ok(size)
}

fn main() {
    let bucket = CString::new(std::env::args().nth(1).unwrap()).unwrap();
    unsafe {
        let size = list(&bucket).unwrap_or_else(|err| {
            panic!("{}", CStr::from_ptr(dataflux_error_text(err)).to_string_lossy())
        });
        let version = CStr::from_ptr(dataflux_version()).to_string_lossy();
        println!("consumed dataflux {version}: {size} objects");
    }
}
