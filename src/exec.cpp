#include <dataflux/exec/impl/blocking_worker.ipp>
#include <dataflux/exec/impl/budget.ipp>
#include <dataflux/exec/impl/completion_queue.ipp>
#include <dataflux/exec/impl/fork.ipp>
#include <dataflux/exec/impl/interrupt_source.ipp>
#include <dataflux/exec/impl/locked_file.ipp>
#include <dataflux/exec/impl/timer_queue.ipp>
#include <dataflux/exec/impl/virtual_scheduler.ipp>
