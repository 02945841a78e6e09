// The options of a list or a watch, checked by upstream's rules.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "local/apiserver/api/call.hpp"
#include "local/apiserver/api/selection.hpp"
#include "local/store/entry.hpp"

namespace plim::local::apiserver {

struct ReadOptions {
  enum class Match : std::uint8_t { unset, exact, not_older_than };

  Selection selection = {};
  std::size_t limit = 0;  // 0: none
  std::string continue_token = {};
  std::optional<store::Revision> revision = {};
  Match match = Match::unset;
  // For watches only.
  bool watch = false;
  bool bookmarks = false;
  std::optional<bool> initial_events = {};
  std::optional<std::int64_t> timeout_seconds = {};
};

ApiResult<ReadOptions> parse_read_options(const Call& call);

// Where a list continues: the revision of all its pages, and the key to start at.
struct ContinueToken {
  store::Revision revision = 0;
  std::string start;  // relative to the selection's prefix
};

std::string encode_continue(const ContinueToken& token);
ApiResult<ContinueToken> decode_continue(std::string_view text);

}  // namespace plim::local::apiserver
