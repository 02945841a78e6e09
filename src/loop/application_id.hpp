// Finds the application ID in a pod object: the path language of OPTUNE_APP_ID.
//
//   path    = ["/"] element {"/" element}        empty elements are skipped
//   element = key | "[" name "]" | "[" name "," k "," v "]" | '"' any key '"'
//
// Several paths are separated by '|'; the first that gives an ID wins.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"

namespace plim::loop {

inline constexpr std::size_t kLongestAppId = 256;  // bytes
// The ID of messages that belong to no application.
inline constexpr std::string_view kGlobalAppId = "_global_";

// Why a pod has no ID. The names are labels of a metric.
enum class AppIdMiss { none, missing, value_from, not_text, empty, too_long, control };

std::string_view name_of(AppIdMiss miss);

struct AppIdLookup {
  std::string id = {};  // not empty if miss is none
  AppIdMiss miss = AppIdMiss::none;
  std::string why = {};  // reason of a miss: "at [JOBID]: no entry whose name is JOBID"

  bool found() const { return miss == AppIdMiss::none; }
};

// An immutable value.
class AppIdPath {
 public:
  // Errors name the column, counted from 1 in bytes.
  static Result<AppIdPath> parse(std::string_view text);

  AppIdLookup find(const json::value& pod) const;

 private:
  struct Element {
    std::string text;                                 // as written, for messages
    std::string key;                                  // of a map or list, or the searched value
    std::string name_member = {}, value_member = {};  // of a search; otherwise empty

    bool is_search() const { return !name_member.empty(); }
  };

  using Elements = std::vector<Element>;
  class Parser;

  static const json::value* step(const json::value& at, const Element& element, AppIdLookup& out);
  static const json::value* search(const json::value& at, const Element& element, AppIdLookup& out);
  static AppIdLookup find_one(const json::value& pod, const Elements& path);

  std::vector<Elements> paths_;
};

}  // namespace plim::loop
