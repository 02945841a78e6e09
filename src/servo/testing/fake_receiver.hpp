// A receiver whose answers a test scripts.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/event.hpp"
#include "servo/receiver.hpp"

namespace plim::servo::testing {

// Answers by application ID. While an ID is held, it does not answer.
class FakeReceiver final : public Receiver {
 public:
  explicit FakeReceiver(const Executor& loop) : released_(loop) {}

  Task<Result<PostAnswer>> post(Message message, std::chrono::milliseconds) override {
    const std::string app = message.subject.app;
    keys.push_back(message.idempotency_key);
    bodies.push_back(message.body);
    in_flight[app] += 1;
    most_of_one = std::max(most_of_one, in_flight[app]);
    most = std::max(most, ++all_in_flight);
    while (held.contains(app)) co_await released_.wait();
    --in_flight[app];
    --all_in_flight;
    auto& script = answers[app];
    if (script.empty()) co_return PostAnswer{.status = 200};
    Result<PostAnswer> out = std::move(script.front());
    script.pop_front();
    co_return out;
  }

  void release(const std::string& app) {
    held.erase(app);
    released_.notify();
  }

  std::map<std::string, std::deque<Result<PostAnswer>>> answers;
  std::set<std::string> held;
  std::vector<std::string> keys, bodies;
  std::map<std::string, int> in_flight;
  int all_in_flight = 0, most = 0, most_of_one = 0;

 private:
  Event released_;
};

}  // namespace plim::servo::testing
