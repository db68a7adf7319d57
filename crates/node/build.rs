//! Link arguments of a Node-API addon; among them the one that keeps the library loaded when a worker thread
//! that loaded it ends, because background threads of a database may still run.

fn main() {
    napi_build::setup();
}
