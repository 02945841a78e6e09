#include "base/signals.hpp"

#include <signal.h>
#include <unistd.h>

#include <boost/asio/signal_set.hpp>

#include "base/event.hpp"

namespace plim {
namespace asio = boost::asio;

namespace {

void exit_now(int) {
  ::_exit(130);
}

}  // namespace

// Shared with the handlers that wait, which end when the sets are cancelled.
struct Signals::Impl : std::enable_shared_from_this<Signals::Impl> {
  explicit Impl(const Executor& loop)
      : stop_set(loop, SIGTERM, SIGINT), reload_set(loop), stop(loop), reload(loop) {}

  void watch_stop() {
    stop_set.async_wait(
        [self = shared_from_this()](const boost::system::error_code& error, int number) {
          if (error) return;
          self->stop_signal = number;
          // From here on without the loop, which may be busy ending.
          self->stop_set.clear();
          ::signal(SIGTERM, exit_now);
          ::signal(SIGINT, exit_now);
          self->stop.notify();
        });
  }

  void watch_reload() {
    reload_set.async_wait([self = shared_from_this()](const boost::system::error_code& error, int) {
      if (error) return;
      self->reload_asked = true;
      self->reload.notify();
      self->watch_reload();
    });
  }

  asio::signal_set stop_set, reload_set;
  Event stop, reload;
  int stop_signal = 0;
  bool reload_asked = false;
};

Signals::Signals(const Executor& loop) : Signals(loop, Options{}) {}

Signals::Signals(const Executor& loop, Options options) : impl_(std::make_shared<Impl>(loop)) {
  impl_->watch_stop();
  if (!options.reload) return;
  impl_->reload_set.add(SIGHUP);
  impl_->watch_reload();
}

Signals::~Signals() {
  impl_->stop_set.clear();
  impl_->reload_set.clear();
  impl_->stop_set.cancel();
  impl_->reload_set.cancel();
  ::signal(SIGTERM, SIG_DFL);
  ::signal(SIGINT, SIG_DFL);
}

Task<void> Signals::stop_requested() {
  auto impl = impl_;
  while (impl->stop_signal == 0) co_await impl->stop.wait();
}

int Signals::stop_signal() const {
  return impl_->stop_signal;
}

Task<void> Signals::reload_requested() {
  auto impl = impl_;
  while (!impl->reload_asked) co_await impl->reload.wait();
  impl->reload_asked = false;
}

}  // namespace plim
