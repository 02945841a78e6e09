// The last decisions, for those who ask later. Belongs to one loop.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "net/http.hpp"
#include "sched/explain_record.hpp"

namespace plim::sched {

class ExplainRing {
 public:
  struct Limits {
    std::size_t decisions = 10'000;
    std::size_t bytes = std::size_t{64} << 20;
  };

  ExplainRing() = default;

  explicit ExplainRing(Limits limits) : limits_(limits) {}

  // The oldest make room.
  void add(ExplainRecord record);

  struct Wanted {
    std::string ns, pod;
    std::string uid = {};      // "" for any
    std::int64_t attempt = 0;  // 0 for the last
  };

  // The newest that fits; null when there is none, or no longer.
  const ExplainRecord* find(const Wanted& wanted) const;

  std::size_t size() const { return kept_.size(); }

  std::size_t bytes() const { return bytes_; }

 private:
  struct Kept {
    ExplainRecord record;
    std::size_t bytes = 0;
  };

  Limits limits_;
  std::deque<Kept> kept_;
  std::size_t bytes_ = 0;
};

// GET /plimsoll/v1/explain?namespace=&pod=[&uid=&attempt=]
net::Response answer_explain(const ExplainRing& ring, const net::Request& request);

}  // namespace plim::sched
