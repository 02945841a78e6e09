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

// Shared with pending handlers, which end when the sets are cancelled.
struct Signals::Impl : std::enable_shared_from_this<Signals::Impl> {
  explicit Impl(const Executor& loop)
      : stop_set(loop, SIGTERM, SIGINT), stop(loop), reload(loop), dump(loop) {}

  void watch_stop() {
    stop_set.async_wait(
        [self = shared_from_this()](const boost::system::error_code& error, int number) {
          if (error) return;
          self->stop_signal = number;
          // From here on without the loop, which may be busy stopping.
          self->stop_set.clear();
          ::signal(SIGTERM, exit_now);
          ::signal(SIGINT, exit_now);
          self->stop.notify();
        });
  }

  // A signal that may arrive repeatedly.
  struct Wish {
    explicit Wish(const Executor& loop) : set(loop), event(loop) {}

    asio::signal_set set;
    Event event;
    bool asked = false;
  };

  void watch(Wish& wish) {
    wish.set.async_wait(
        [self = shared_from_this(), &wish](const boost::system::error_code& error, int) {
          if (error) return;
          wish.asked = true;
          wish.event.notify();
          self->watch(wish);
        });
  }

  static Task<void> wait_for(std::shared_ptr<Impl> self, Wish Impl::* which) {
    Wish& wish = (*self).*which;
    while (!wish.asked) co_await wish.event.wait();
    wish.asked = false;
  }

  asio::signal_set stop_set;
  Event stop;
  Wish reload, dump;
  int stop_signal = 0;
};

Signals::Signals(const Executor& loop) : Signals(loop, Options{}) {}

Signals::Signals(const Executor& loop, Options options) : impl_(std::make_shared<Impl>(loop)) {
  impl_->watch_stop();
  if (options.reload) {
    impl_->reload.set.add(SIGHUP);
    impl_->watch(impl_->reload);
  }
  if (options.dump) {
    impl_->dump.set.add(SIGUSR2);
    impl_->watch(impl_->dump);
  }
}

Signals::~Signals() {
  for (auto* set : {&impl_->stop_set, &impl_->reload.set, &impl_->dump.set}) {
    set->clear();
    set->cancel();
  }
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
  return Impl::wait_for(impl_, &Impl::reload);
}

Task<void> Signals::dump_requested() {
  return Impl::wait_for(impl_, &Impl::dump);
}

}  // namespace plim
