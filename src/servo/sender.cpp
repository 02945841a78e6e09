#include "servo/sender.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/log.hpp"

namespace plim::servo {
namespace {

// Uncounts a post when it ends, also by cancellation or an exception.
class InFlight {
 public:
  explicit InFlight(std::size_t& count) : count_(count) {}

  ~InFlight() { --count_; }

  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;

 private:
  std::size_t& count_;
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
      options_(options),
      clock_(clock),
      random_(random),
      changed_(loop),
      tasks_(loop) {}

void Sender::start() {
  started_ = true;
  tasks_.spawn("sender's timer", wake());
  begin_posts();
}

void Sender::add(loop::RunRecord run) {
  ++queued_;
  const std::string app = run.app;
  auto found = lanes_.find(app);
  if (found == lanes_.end())
    found =
        lanes_.emplace(app, Lane{.runs = {}, .backoff = Backoff(options_.backoff, random_)}).first;
  // The time of day is only used once: it may be set while the run waits.
  const Nanos age = std::max<Nanos>(clock_.wall() - run.observed, Nanos(0));
  const SteadyTime give_up = clock_.steady() + (options_.give_up - age);
  found->second.runs.push_back({.run = std::move(run), .give_up = give_up});
  if (found->second.runs.size() > 1) return;
  ready_.push_back(app);
  begin_posts();
}

// One task per post instead of waiting workers: each post would wake up all workers.
void Sender::begin_posts() {
  if (!started_ || beginning_) return;
  beginning_ = true;  // a post that fails at once calls this again: loop instead of recursing
  while (!draining_ && in_flight_ < options_.in_flight && !ready_.empty()) {
    std::string app = std::move(ready_.front());
    ready_.pop_front();
    ++in_flight_;
    tasks_.spawn("post", send_first(std::move(app)));
  }
  beginning_ = false;
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
    ready_.push_back(std::move(waiting_.begin()->second));
    waiting_.erase(waiting_.begin());
    begin_posts();
  }
}

Task<void> Sender::send_first(std::string app) {
  // The reference stays valid until finish(): the map does not move its lanes, and appending to a
  // deque does not move its front.
  const Queued& first = lanes_.at(app).runs.front();
  const loop::RunRecord& run = first.run;
  Message message{.subject = {.app = run.app, .ns = run.ns, .pod = run.pod, .uid = run.uid},
                  .body = measurement(run, options_.extra),
                  .idempotency_key = run.key()};
  Result<PostAnswer> answer = PostAnswer{};
  {
    const InFlight counted(in_flight_);
    answer = co_await receiver_.post(std::move(message), options_.timeout);
  }
  if (draining_) changed_.notify();
  if (answer && answer->status >= 200 && answer->status < 300) {
    metrics_.count_post("sent");
    callbacks_.on_sent(run);
    finish(app);
    co_return;
  }
  const std::string why = answer ? fmt::format("the receiver answered {} {}", answer->status,
                                               net::status_text(answer->status))
                                 : answer.error().message;
  const bool in_time = clock_.steady() < first.give_up;
  if ((!answer || is_worth_retrying(answer->status)) && in_time) {
    metrics_.count_post("retry");
    log::debug("servo", "cannot send a run yet", {{"key", run.key()}, {"error", why}});
    const Nanos wait = lanes_.at(app).backoff.next();
    try_later(app, answer && answer->retry_after ? Nanos(*answer->retry_after) : wait);
    co_return;
  }
  metrics_.count_post("dead");
  log::warn("servo", "stopped trying to send a run; it stays in the store",
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
    ready_.push_back(app);
  begin_posts();
}

void Sender::try_later(const std::string& app, Nanos wait) {
  waiting_.emplace(clock_.steady() + wait, app);
  changed_.notify();
  begin_posts();
}

Task<void> Sender::drain(Nanos limit) {
  draining_ = true;
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
