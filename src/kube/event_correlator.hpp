// Keeps a noisy component from flooding the cluster with Events, by client-go's rules: repeats are
// counted, similar Events are combined, and each object has a budget. Pure logic; the caller gives
// the time.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/clock.hpp"

namespace plim::kube {

struct ObjectReference {
  std::string api_version, kind, ns, name, uid;
  std::string resource_version = {}, field_path = {};
};

struct EventNote {
  enum class Type { normal, warning };

  ObjectReference about;
  Type type = Type::normal;
  std::string reason;   // CamelCase, for machines
  std::string message;  // for people; cut at 1024 bytes
};

// At most `capacity` values by key; drops the least recently used one.
template <class Value>
class RecentMap {
 public:
  explicit RecentMap(std::size_t capacity) : capacity_(capacity) {}

  Value& operator[](const std::string& key) {
    if (auto found = places_.find(key); found != places_.end()) {
      values_.splice(values_.begin(), values_, found->second);
      return values_.front().second;
    }
    if (values_.size() == capacity_) {
      places_.erase(values_.back().first);
      values_.pop_back();
    }
    values_.emplace_front(key, Value());
    places_[key] = values_.begin();
    return values_.front().second;
  }

 private:
  using Values = std::list<std::pair<std::string, Value>>;

  std::size_t capacity_;
  Values values_;
  std::unordered_map<std::string, typename Values::iterator> places_;
};

class EventCorrelator {
 public:
  static constexpr std::size_t kMaxMessage = 1024;
  static constexpr std::size_t kSimilar =
      10;  // more different messages in kSimilarWithin are combined
  static constexpr std::chrono::minutes kSimilarWithin{10};
  static constexpr double kBurst = 25;  // Events of one object at once, then one per kRefill
  static constexpr std::chrono::minutes kRefill{5};

  // What to write: a new Event, or the existing Event of that name with a higher count.
  struct Decision {
    std::string name;
    std::string message;
    std::int64_t count = 1;
    WallTime first, last;
  };

  // nullopt: the object is over its budget.
  std::optional<Decision> observe(const EventNote& note, WallTime now);

 private:
  struct Similar {
    std::set<std::string> messages;
    WallTime last{};
  };

  struct Seen {
    std::string name;
    std::int64_t count = 0;
    WallTime first{};
  };

  struct Budget {
    double tokens = kBurst;
    WallTime refilled{};
  };

  static constexpr std::size_t kRemembered = 4096;
  RecentMap<Similar> similar_{kRemembered};
  RecentMap<Seen> seen_{kRemembered};
  RecentMap<Budget> budgets_{kRemembered};
};

}  // namespace plim::kube
