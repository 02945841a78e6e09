// Reads single objects and lists.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/task.hpp"
#include "local/apiserver/api/core.hpp"
#include "local/apiserver/api/pod_index.hpp"
#include "local/apiserver/api/read_options.hpp"
#include "local/store/view.hpp"

namespace plim::local::apiserver {

// A stored object, or 404. Reads the newest acknowledged state.
ApiResult<store::EntryPtr> find_entry(const Core& core, const Kind& kind, std::string_view ns,
                                      std::string_view name);

// The result of a list, before formatting.
struct ListResult {
  store::Revision revision = 0;
  std::vector<store::EntryPtr> entries = {};
  std::string continue_token = {};
  std::optional<std::size_t> remaining = {};  // known only without selectors
};

// Belongs to the store's loop.
class Reader {
 public:
  explicit Reader(Core& core) : core_(core), pods_by_node_(core.store) {}

  // Follows the rules of limit, continue, resourceVersion and resourceVersionMatch; waits for a
  // revision that does not exist yet.
  Task<ApiResult<ListResult>> list(ReadOptions options);
  // 504 with the cause that clients expect if the store does not reach `revision` in time.
  Task<ApiResult<void>> wait_for(store::Revision revision);
  // The objects of the newest state that match a selection, in order.
  Task<ListResult> select(Selection selection);

 private:
  Core& core_;
  PodIndex pods_by_node_;
};

// `"metadata":{"resourceVersion":…}` of a list in any format.
json::object list_metadata(const ListResult& list);
// `{"kind":"PodList",…,"items":[…]}`, concatenated from the stored bytes.
std::string encode_list(const Kind& kind, const ListResult& list);

}  // namespace plim::local::apiserver
