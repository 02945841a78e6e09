// Reading one object, and lists of them.
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

// A stored object, or 404. The newest acknowledged state.
ApiResult<store::EntryPtr> find_entry(const Core& core, const Kind& kind, std::string_view ns,
                                      std::string_view name);

// What a list shows, before it is put into any format.
struct ListResult {
  store::Revision revision = 0;
  std::vector<store::EntryPtr> entries = {};
  std::string continue_token = {};
  std::optional<std::size_t> remaining = {};  // only known without selectors
};

// Belongs to the store's loop.
class Reader {
 public:
  explicit Reader(Core& core) : core_(core), pods_by_node_(core.store) {}

  // By the rules of limit, continue, resourceVersion and resourceVersionMatch; waits for a revision
  // that is still to come.
  Task<ApiResult<ListResult>> list(ReadOptions options);
  // 504 with the cause that clients know if the store does not reach `revision` in time.
  Task<ApiResult<void>> wait_for(store::Revision revision);
  // What of the newest state belongs to a selection, in order.
  Task<ListResult> select(Selection selection);

 private:
  Core& core_;
  PodIndex pods_by_node_;
};

// `"metadata":{"resourceVersion":…}` of a list in any format.
json::object list_metadata(const ListResult& list);
// `{"kind":"PodList",…,"items":[…]}`, joined from the stored bytes.
std::string encode_list(const Kind& kind, const ListResult& list);

}  // namespace plim::local::apiserver
