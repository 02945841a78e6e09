#include "servo/sender.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "base/log.hpp"

namespace plim::servo {
namespace {

// Counts a post while it lives, however it ends.
class InFlight {
 public:
  InFlight(std::size_t& count, Event& changed) : count_(count), changed_(changed) { ++count_; }

  ~InFlight() {
    --count_;
    changed_.notify();
  }

  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;

 private:
  std::size_t& count_;
  Event& changed_;
};

}  // namespace

bool is_worth_retrying(int status) {
  constexpr std::array kStatuses{408, 425, 429, 500, 502, 503, 504};
  return std::ranges::find(kStatuses, status) != kStatuses.end();
}

Sender::Sender(const Executor& loop, Receiver& receiver, Metrics& metrics, Callbacks callbacks,
               Options options, Clock& clock, Random& random)
    : receiver_(receiver),
      metrics_(metrics),
      callbacks_(std::move(callbacks)),
      options_(std::move(options)),
      clock_(clock),
      random_(random),
      ready_(loop, std::numeric_limits<std::size_t>::max()),
      changed_(loop),
      tasks_(loop) {}

void Sender::start() {
  for (std::size_t i = 0; i < options_.in_flight; ++i) tasks_.spawn("sender", work());
  tasks_.spawn("sender's timer", wake());
}

void Sender::add(loop::RunRecord run) {
  ++queued_;
  const std::string app = run.app;
  auto found = lanes_.find(app);
  if (found == lanes_.end())
    found =
        lanes_.emplace(app, Lane{.runs = {}, .backoff = Backoff(options_.backoff, random_)}).first;
  found->second.runs.push_back(std::move(run));
  if (found->second.runs.size() == 1) (void)ready_.try_push(app);
}

Task<void> Sender::work() {
  for (;;) {
    auto app = co_await ready_.pop();
    if (!app || draining_) co_return;
    co_await send_first(std::move(*app));
  }
}

Task<void> Sender::wake() {
  for (;;) {
    if (waiting_.empty()) {
      co_await changed_.wait();
      continue;
    }
    const SteadyTime first = waiting_.begin()->first;
    if (first > clock_.steady()) {
      co_await changed_.wait_until(clock_, first);
      continue;
    }
    (void)ready_.try_push(std::move(waiting_.begin()->second));
    waiting_.erase(waiting_.begin());
  }
}

Task<void> Sender::send_first(std::string app) {
  // A copy: the queue behind the reference may move while the post is under way.
  const loop::RunRecord run = lanes_.at(app).runs.front();
  Message message{.subject = {.app = run.app, .ns = run.ns, .pod = run.pod, .uid = run.uid},
                  .body = measurement(run, options_.extra),
                  .idempotency_key = run.key()};
  Result<PostAnswer> answer = PostAnswer{};
  {
    InFlight counted(in_flight_, changed_);
    answer = co_await receiver_.post(std::move(message), options_.timeout);
  }
  if (answer && answer->status >= 200 && answer->status < 300) {
    metrics_.count_post("sent");
    callbacks_.on_sent(run);
    finish(app);
    co_return;
  }
  const std::string why = answer ? fmt::format("the receiver answers {} {}", answer->status,
                                               net::status_text(answer->status))
                                 : answer.error().message;
  const bool in_time = clock_.wall() - run.observed < options_.give_up;
  if ((!answer || is_worth_retrying(answer->status)) && in_time) {
    metrics_.count_post("retry");
    log::debug("servo", "cannot send a run yet", {{"key", run.key()}, {"error", why}});
    const Nanos wait = lanes_.at(app).backoff.next();
    try_later(app, answer && answer->retry_after ? Nanos(*answer->retry_after) : wait);
    co_return;
  }
  metrics_.count_post("dead");
  log::warn("servo", "gave up sending a run; it stays in the store",
            {{"key", run.key()}, {"app", run.app}, {"error", why}});
  callbacks_.on_dead(run, why);
  finish(app);
}

void Sender::finish(const std::string& app) {
  --queued_;
  auto found = lanes_.find(app);
  found->second.runs.pop_front();
  found->second.backoff.reset();
  if (found->second.runs.empty())
    lanes_.erase(found);
  else
    (void)ready_.try_push(app);
}

void Sender::try_later(const std::string& app, Nanos wait) {
  waiting_.emplace(clock_.steady() + wait, app);
  changed_.notify();
}

Task<void> Sender::drain(Nanos limit) {
  draining_ = true;
  ready_.close();
  const SteadyTime deadline = clock_.steady() + limit;
  while (in_flight_ > 0) {
    const bool in_time = co_await changed_.wait_until(clock_, deadline);
    if (!in_time) co_return;
  }
}

Task<void> Sender::stop() {
  return tasks_.stop();
}

}  // namespace plim::servo
