#include "base/worker_pool.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <pthread.h>
#include <thread>
#include <vector>

namespace plim {

struct WorkerPool::Impl {
  void work() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [this] { return stopping || !jobs.empty(); });
      if (stopping) return;
      Job job = std::move(jobs.front());
      jobs.pop_front();
      lock.unlock();
      job(false);
      job = nullptr;  // frees its captures before taking the lock
      lock.lock();
    }
  }

  std::size_t queue_limit = 0;
  std::mutex mutex;  // guards jobs and stopping
  std::condition_variable changed;
  std::deque<Job> jobs;
  bool stopping = false;
  std::vector<std::thread> threads;
};

WorkerPool::WorkerPool(Options options) : impl_(std::make_unique<Impl>()) {
  impl_->queue_limit = options.queue_limit;
  const std::string name = options.name.substr(0, 15);  // the kernel's limit
  for (unsigned i = 0; i < options.threads; ++i) {
    auto& thread = impl_->threads.emplace_back([impl = impl_.get()] { impl->work(); });
    ::pthread_setname_np(thread.native_handle(), name.c_str());
  }
}

WorkerPool::~WorkerPool() {
  stop();
}

bool WorkerPool::submit(Job job) {
  {
    const std::lock_guard lock(impl_->mutex);
    if (impl_->stopping || impl_->jobs.size() >= impl_->queue_limit) return false;
    impl_->jobs.push_back(std::move(job));
  }
  impl_->changed.notify_one();
  return true;
}

void WorkerPool::stop() {
  std::deque<Job> dropped;
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
    dropped.swap(impl_->jobs);
  }
  impl_->changed.notify_all();
  for (Job& job : dropped) job(true);
  for (std::thread& thread : impl_->threads)
    if (thread.joinable()) thread.join();
}

}  // namespace plim
