// Sets of completion indexes in the notation of Jobs: "1,3-5,7". Plain values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plim::local::controllers {

class JobIndexes {
 public:
  // Ignores everything that is not an index below `completions`: the text comes from a status that
  // any client may write.
  static JobIndexes parse(std::string_view text, std::int64_t completions);

  bool contains(std::int64_t index) const;
  void add(std::int64_t index);
  std::int64_t size() const;
  std::string to_string() const;

  // The `count` lowest indexes below `completions` that are in neither set.
  static std::vector<std::int64_t> first_missing(const JobIndexes& done, const JobIndexes& busy,
                                                 std::int64_t completions, std::size_t count);

  bool operator==(const JobIndexes&) const = default;

 private:
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges_;  // ascending, disjoint, inclusive
};

}  // namespace plim::local::controllers
