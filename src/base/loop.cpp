#include "base/loop.hpp"

#include <optional>
#include <thread>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "base/result.hpp"

namespace plim {
namespace asio = boost::asio;

struct Loop::Impl {
  asio::io_context io{1};  // one thread: lets Asio omit locking
};

Loop::Loop() : impl_(std::make_unique<Impl>()) {}

Loop::~Loop() = default;

Executor Loop::executor() const {
  return impl_->io.get_executor();
}

int Loop::run(Task<int> main) {
  std::optional<int> result;
  std::exception_ptr error;
  asio::co_spawn(impl_->io, std::move(main), [&](std::exception_ptr e, int value) {
    error = std::move(e);
    result = value;
    impl_->io.stop();
  });
  impl_->io.restart();
  impl_->io.run();
  if (error) std::rethrow_exception(error);
  PLIM_ASSERT(result);  // otherwise main waits for something that no longer exists
  return *result;
}

void Loop::run_ready() {
  impl_->io.restart();
  impl_->io.poll();
}

struct LoopPool::Impl {
  using Guard = asio::executor_work_guard<asio::io_context::executor_type>;
  std::vector<std::unique_ptr<Loop>> loops;
  std::vector<Guard> guards;
  std::vector<std::thread> threads;
};

LoopPool::LoopPool(unsigned threads) : impl_(std::make_unique<Impl>()) {
  for (unsigned i = 0; i < threads; ++i) {
    auto& loop = impl_->loops.emplace_back(std::make_unique<Loop>());
    auto& io = loop->impl_->io;
    impl_->guards.push_back(asio::make_work_guard(io));
    impl_->threads.emplace_back([&io] { io.run(); });
  }
}

LoopPool::~LoopPool() {
  for (auto& loop : impl_->loops) loop->impl_->io.stop();
  for (auto& thread : impl_->threads) thread.join();
}

std::vector<Executor> LoopPool::executors() const {
  std::vector<Executor> out;
  for (const auto& loop : impl_->loops) out.push_back(loop->executor());
  return out;
}

void post_to(const Executor& loop, std::function<void()> work) {
  asio::post(loop, std::move(work));
}

}  // namespace plim
