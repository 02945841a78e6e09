// One collection of objects with its history, served as an API server would, faults included.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/event.hpp"
#include "kube/testing/stub_client.hpp"

namespace plim::testing {

// The next fault. Each fault affects one call.
enum class Fault {
  none,
  cut,          // the connection breaks, half an event is lost
  end,          // the watch ends regularly
  gone_error,   // ERROR event 410
  gone_http,    // the call is answered with 410
  other_error,  // ERROR event 500
  refused,      // the call is answered with 503, or the connection breaks
  duplicate,    // the last event comes again
  bookmark,
  garbage,     // a line that is not JSON
  stale_list,  // the initial state is old, as from a replica that lags behind
  // Two events of different objects change places. Events of one object never do: the server
  // promises their order, and clients may not compare versions.
  reordered,
  bookmark_of_now,  // a bookmark at the latest version, past changes that the selector does not
                    // match
  busy,             // 429: come back in 20 seconds
  forbidden,        // 403: the right was taken away
};

// Belongs to one loop. Comparing its resource versions, as numbers or as texts, gives wrong
// results.
class ModelCluster {
 public:
  explicit ModelCluster(const Executor& loop) : changed_(loop) {}

  struct Object {
    std::string uid, version;

    bool operator==(const Object&) const = default;
  };

  struct Change {
    std::string type, key;
    Object object;
  };

  void put(const std::string& key) {
    auto [place, added] = objects_.try_emplace(key);
    if (added) place->second.uid = fmt::format("u{}", ++uids_);
    note(added ? "ADDED" : "MODIFIED", key, place->second);
  }

  void remove(const std::string& key) {
    auto found = objects_.find(key);
    if (found == objects_.end()) return;
    Object object = found->second;
    objects_.erase(found);
    note("DELETED", key, object);
  }

  // Drops the history so far: clients that lag behind must list again.
  void compact() { compacted_ = history_.size(); }

  void plan(Fault fault) { faults_.push_back(fault); }

  void clear_faults() {
    faults_.clear();
    changed_.notify();
  }

  const std::map<std::string, Object>& objects() const { return objects_; }

  static std::string version(std::size_t position) {
    return fmt::format("{:x}", (position + 1) * 2654435761u % 4294967296u);
  }

 private:
  friend class ModelClient;
  friend class ModelWatch;

  void note(const char* type, const std::string& key, Object& object) {
    object.version = version(history_.size() + 1);
    if (auto found = objects_.find(key); found != objects_.end()) found->second = object;
    history_.push_back({type, key, object});
    changed_.notify();
  }

  Fault next_fault() {
    if (faults_.empty()) return Fault::none;
    Fault out = faults_.front();
    faults_.pop_front();
    return out;
  }

  std::optional<std::size_t> position_of(const std::string& wanted) const {
    for (std::size_t i = compacted_; i <= history_.size(); ++i)
      if (version(i) == wanted) return i;
    return std::nullopt;
  }

  // An old version that can still be watched.
  std::size_t past() const { return std::max(compacted_, history_.size() - history_.size() % 4); }

  std::map<std::string, Object> state_at(std::size_t position) const {
    std::map<std::string, Object> out;
    for (std::size_t i = 0; i < position; ++i) {
      const Change& change = history_[i];
      if (change.type == "DELETED")
        out.erase(change.key);
      else
        out[change.key] = change.object;
    }
    return out;
  }

  std::string line_of(std::size_t position) const {
    const Change& change = history_[position];
    return fmt::format(R"({{"type":"{}","object":{}}})", change.type,
                       json_of(change.key, change.object));
  }

  static std::string json_of(const std::string& key, const Object& object) {
    return fmt::format(
        R"({{"metadata":{{"name":"{}","namespace":"ns","uid":"{}","resourceVersion":"{}"}}}})", key,
        object.uid, object.version);
  }

  std::map<std::string, Object> objects_;
  std::vector<Change> history_;
  std::size_t compacted_ = 0;
  std::size_t uids_ = 0;
  std::deque<Fault> faults_;
  Event changed_;
};

class ModelWatch final : public kube::Watch {
 public:
  ModelWatch(ModelCluster& cluster, std::deque<std::string> first, std::size_t position)
      : cluster_(cluster), lines_(std::move(first)), position_(position) {}

  Task<Result<std::optional<std::string>>> next() override {
    for (;;) {
      if (!lines_.empty()) {
        last_ = std::move(lines_.front());
        lines_.pop_front();
        co_return std::optional(last_);
      }
      Fault fault = cluster_.next_fault();
      if (fault == Fault::cut || fault == Fault::refused)
        co_return fail(Code::unavailable, "connection lost");
      if (fault == Fault::end) co_return std::optional<std::string>();
      if (fault == Fault::gone_error || fault == Fault::gone_http)
        co_return std::optional<std::string>(
            R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}})");
      if (fault == Fault::other_error)
        co_return std::optional<std::string>(
            R"({"type":"ERROR","object":{"kind":"Status","code":500,"reason":"InternalError"}})");
      if (fault == Fault::duplicate && !last_.empty()) co_return std::optional(last_);
      if (fault == Fault::garbage) co_return std::optional<std::string>(R"({"type":"ADD)");
      if (fault == Fault::bookmark) co_return std::optional(bookmark(position_));
      if (fault == Fault::bookmark_of_now) {
        position_ = cluster_.history_.size();
        co_return std::optional(bookmark(position_));
      }
      if (fault == Fault::reordered && position_ + 2 <= cluster_.history_.size() &&
          cluster_.history_[position_].key != cluster_.history_[position_ + 1].key) {
        lines_ = {cluster_.line_of(position_ + 1), cluster_.line_of(position_)};
        position_ += 2;
        continue;
      }
      if (position_ < cluster_.history_.size()) {
        lines_.push_back(cluster_.line_of(position_++));
        continue;
      }
      co_await cluster_.changed_.wait();
    }
  }

  static std::string bookmark(std::size_t position) {
    return fmt::format(
        R"({{"type":"BOOKMARK","object":{{"metadata":{{"resourceVersion":"{}"}}}}}})",
        ModelCluster::version(position));
  }

 private:
  ModelCluster& cluster_;
  std::deque<std::string> lines_;
  std::size_t position_;  // of the history
  std::string last_;
};

class ModelClient final : public StubClient {
 public:
  enum class WatchList { offered, refused, refused_late };

  ModelClient(ModelCluster& cluster, WatchList watch_list)
      : cluster_(cluster), watch_list_(watch_list) {}

  Answer<std::string> list_page(Resource, kube::ListOptions options) override {
    Fault fault = cluster_.next_fault();
    if (fault == Fault::gone_http) co_return fail(Code::expired, "too old");
    if (fault == Fault::cut || fault == Fault::refused)
      co_return fail(Code::unavailable, "no server");
    if (fault == Fault::forbidden) co_return fail(Code::forbidden, "cannot list things");
    if (fault == Fault::garbage) co_return std::string(R"({"items":[{"metadata":{"name":)");
    // Pages come from the state the first one saw.
    if (options.continue_token.empty()) {
      std::size_t position = position_of_list(fault);
      snapshot_ = cluster_.state_at(position);
      snapshot_version_ = ModelCluster::version(position);
    }
    auto at = snapshot_.upper_bound(options.continue_token);
    std::string items;
    for (std::int64_t n = 0; at != snapshot_.end() && (options.limit == 0 || n < options.limit);
         ++n, ++at)
      items += (items.empty() ? "" : ",") + ModelCluster::json_of(at->first, at->second);
    std::string more = at == snapshot_.end() ? "" : std::prev(at)->first;
    co_return fmt::format(
        R"({{"metadata":{{"resourceVersion":"{}","continue":"{}"}},"items":[{}]}})",
        snapshot_version_, more, items);
  }

  Answer<std::unique_ptr<kube::Watch>> watch(Resource, kube::WatchOptions options) override {
    Fault fault = cluster_.next_fault();
    if (fault == Fault::gone_http) co_return fail(Code::gone, "too old");
    if (fault == Fault::refused) co_return fail(Code::unavailable, "no server");
    if (fault == Fault::forbidden) co_return fail(Code::forbidden, "cannot watch things");
    if (fault == Fault::busy) {
      Error busy = fail(Code::too_many_requests, "busy");
      busy.retry_after = std::chrono::seconds(20);
      co_return busy;
    }
    std::deque<std::string> first;
    std::size_t position = position_of_list(fault);
    if (options.send_initial_events && watch_list_ == WatchList::refused_late) {
      first.push_back(
          R"({"type":"ERROR","object":{"kind":"Status","code":500,"reason":"InternalError"}})");
    } else if (options.send_initial_events) {
      if (watch_list_ == WatchList::refused) co_return fail(Code::invalid, "sendInitialEvents");
      for (const auto& [key, object] : cluster_.state_at(position))
        first.push_back(
            fmt::format(R"({{"type":"ADDED","object":{}}})", ModelCluster::json_of(key, object)));
      first.push_back(
          fmt::format(R"({{"type":"BOOKMARK","object":{{"metadata":{{"resourceVersion":"{}",)"
                      R"("annotations":{{"k8s.io/initial-events-end":"true"}}}}}}}})",
                      ModelCluster::version(position)));
    } else {
      auto found = cluster_.position_of(options.resource_version);
      if (!found) co_return fail(Code::gone, "too old");
      position = *found;
    }
    std::unique_ptr<kube::Watch> out =
        std::make_unique<ModelWatch>(cluster_, std::move(first), position);
    co_return out;
  }

 private:
  std::size_t position_of_list(Fault fault) const {
    return fault == Fault::stale_list ? cluster_.past() : cluster_.history_.size();
  }

  ModelCluster& cluster_;
  WatchList watch_list_;
  std::map<std::string, ModelCluster::Object> snapshot_;
  std::string snapshot_version_;
};

}  // namespace plim::testing
