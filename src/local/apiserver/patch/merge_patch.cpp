// RFC 7396: members of the patch replace or extend those of the object, null removes.
#include "local/apiserver/patch/patch.hpp"

namespace plim::local::apiserver {

json::value apply_merge_patch(json::value object, const json::value& patch) {
  const json::object* changes = patch.if_object();
  if (!changes) return patch;
  json::object& out = object.is_object() ? object.get_object() : object.emplace_object();
  for (const json::key_value_pair& change : *changes) {
    if (change.value().is_null()) {
      if (auto found = out.find(change.key()); found != out.end()) out.stable_erase(found);
      continue;
    }
    // Also for new members: nulls inside the patch must not remain.
    json::value& member = out[change.key()];
    member = apply_merge_patch(std::move(member), change.value());
  }
  return object;
}

}  // namespace plim::local::apiserver
