// Strategic merge: merges objects member by member, and lists as the type of the field defines. A
// patch may contain directives, members whose names begin with '$'.
#include <algorithm>
#include <string>
#include <unordered_set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "local/apiserver/patch/patch.hpp"
#include "local/apiserver/patch/strategic_lists.hpp"

namespace plim::local::apiserver {
namespace {

constexpr std::string_view kPatch = "$patch";
constexpr std::string_view kRetainKeys = "$retainKeys";
constexpr std::string_view kOrder = "$setElementOrder/";
constexpr std::string_view kDelete = "$deleteFromPrimitiveList/";

bool is_directive(std::string_view key) {
  return key == kPatch || key == kRetainKeys || key.starts_with(kOrder) || key.starts_with(kDelete);
}

Error refused(std::string message) {
  return fail(Code::bad_request, std::move(message));
}

enum class Directive { none, replace, remove };

Result<Directive> directive_of(const json::object& patch) {
  const json::value* found = patch.if_contains(kPatch);
  if (!found) return Directive::none;
  if (*found == "replace") return Directive::replace;
  if (*found == "delete") return Directive::remove;
  return refused(fmt::format("unknown patch type: {}", to_json(*found)));
}

Result<Directive> directive_of(const json::value& patch) {
  const json::object* object = patch.if_object();
  return object ? directive_of(*object) : Directive::none;
}

// A new value of the patch, without nulls, directives and elements to delete.
Result<json::value> plain(const json::value& patch) {
  if (const json::array* array = patch.if_array()) {
    json::array out;
    for (const json::value& element : *array) {
      PLIM_TRY(Directive directive, directive_of(element));
      const bool only_directive = directive != Directive::none && element.get_object().size() == 1;
      if (directive == Directive::remove || only_directive) continue;
      PLIM_TRY(json::value value, plain(element));
      out.push_back(std::move(value));
    }
    return out;
  }
  const json::object* object = patch.if_object();
  if (!object) return patch;
  json::object out;
  PLIM_TRY(Directive directive, directive_of(patch));
  if (directive == Directive::remove) return out;
  for (const json::key_value_pair& member : *object) {
    if (member.value().is_null() || is_directive(member.key())) continue;
    PLIM_TRY(json::value value, plain(member.value()));
    out.emplace(member.key(), std::move(value));
  }
  return out;
}

// The types of an object's members: fields of a type, or all the same in a map.
struct Members {
  const Type* type = nullptr;

  const Field* find(std::string_view key) const { return type ? type->find(key) : nullptr; }

  static Members of(const Field* field) {
    if (!field || field->scalar != Scalar::object || field->shape == Shape::map) return {};
    return {.type = field->type};
  }
};

class Merger {
 public:
  Result<json::value> merge_objects(Members members, json::value original,
                                    const json::object& patch) {
    PLIM_TRY(Directive directive, directive_of(patch));
    if (directive == Directive::replace) return plain(patch);
    if (directive == Directive::remove) return json::object();
    json::object& out = original.get_object();
    PLIM_CHECK(retain_keys(out, patch));
    for (const json::key_value_pair& change : patch) {
      if (change.key() == kPatch || change.key() == kRetainKeys) continue;
      PLIM_CHECK(apply(members, out, patch, change.key(), change.value()));
    }
    return original;
  }

 private:
  Result<void> apply(Members members, json::object& out, const json::object& patch,
                     std::string_view key, const json::value& value) {
    if (key.starts_with(kDelete)) return delete_values(out, key.substr(kDelete.size()), value);
    if (key.starts_with(kOrder)) {
      const std::string_view name = key.substr(kOrder.size());
      return merge_in_order(members, out, name, value, patch.if_contains(name));
    }
    // A list with a $setElementOrder is merged there, whichever comes first.
    if (patch.contains(std::string(kOrder).append(key))) return {};
    return merge_member(members, out, key, value);
  }

  Result<void> merge_member(Members members, json::object& out, std::string_view key,
                            const json::value& patch) {
    const Field* field = members.find(key);
    auto here = out.find(key);
    if (patch.is_null()) {
      if (here != out.end()) out.stable_erase(here);
      return {};
    }
    if (here != out.end() && here->value().is_object() && patch.is_object() &&
        !(field && field->replace)) {
      PLIM_TRY(here->value(), merge_member_objects(field, std::move(here->value()), patch));
      return {};
    }
    if (here != out.end() && here->value().is_array() && patch.is_array() && field &&
        field->merge) {
      PLIM_TRY(here->value(),
               merge_lists(*field, std::move(here->value().get_array()), patch.get_array()));
      return {};
    }
    PLIM_TRY(json::value value, plain(patch));
    // Deleting a missing member does not create it.
    PLIM_TRY(Directive directive, directive_of(patch));
    if (directive == Directive::remove && here == out.end()) return {};
    out[key] = std::move(value);
    return {};
  }

  Result<json::value> merge_member_objects(const Field* field, json::value original,
                                           const json::value& patch) {
    const bool values_are_objects =
        field && field->shape == Shape::map && field->scalar == Scalar::object && field->type;
    if (!values_are_objects)
      return merge_objects(Members::of(field), std::move(original), patch.get_object());
    // A map of objects: all have the same type.
    PLIM_TRY(Directive directive, directive_of(patch));
    if (directive == Directive::replace) return plain(patch);
    if (directive == Directive::remove) return json::object();
    json::object& out = original.get_object();
    for (const json::key_value_pair& change : patch.get_object()) {
      if (is_directive(change.key())) continue;
      auto here = out.find(change.key());
      const bool both =
          here != out.end() && here->value().is_object() && change.value().is_object();
      if (both) {
        PLIM_TRY(here->value(), merge_objects({.type = field->type}, std::move(here->value()),
                                              change.value().get_object()));
      } else {
        PLIM_CHECK(merge_member({}, out, change.key(), change.value()));
      }
    }
    return original;
  }

  Result<json::value> merge_lists(const Field& field, json::array original,
                                  const json::array& patch) {
    if (field.merge_key.empty()) {
      PLIM_TRY(json::value added, plain(patch));
      return merge_primitives(std::move(original), added.get_array());
    }
    json::array named;  // elements of the patch that remain
    std::unordered_set<std::string> deleted;
    bool replace = false;
    for (const json::value& element : patch) {
      PLIM_TRY(Directive directive, directive_of(element));
      replace = replace || directive == Directive::replace;
      if (directive == Directive::replace) continue;
      auto identity = identity_of(element, field.merge_key);
      if (!identity)
        return refused(fmt::format("map: {} does not contain declared merge key: {}",
                                   to_json(element), field.merge_key));
      if (directive == Directive::remove)
        deleted.insert(std::move(*identity));
      else
        named.push_back(element);
    }
    if (replace) return plain(named);
    erase_elements(original, field.merge_key, deleted);
    const json::array server = original;  // positions elements that are not in the patch
    Identities places = identities_of(original, field.merge_key);
    for (const json::value& element : named) {
      auto identity = identity_of(element, field.merge_key);
      auto [place, is_new] = places.emplace(std::move(*identity), original.size());
      json::value& here = is_new ? original.emplace_back(nullptr) : original[place->second];
      if (here.is_object()) {
        PLIM_TRY(here, merge_objects({.type = field.type}, std::move(here), element.get_object()));
      } else {
        PLIM_TRY(here, plain(element));
      }
    }
    return order_elements(std::move(original), named, server, field.merge_key);
  }

  // $setElementOrder: all elements that the sender knows, in the wanted order. Others stay where
  // they are.
  Result<void> merge_in_order(Members members, json::object& out, std::string_view name,
                              const json::value& order, const json::value* patch) {
    if (!order.is_array()) return refused(fmt::format("the order of {} is not a list", name));
    const Field* field = members.find(name);
    const std::string_view key = field ? field->merge_key : std::string_view();
    const json::value* before = out.if_contains(name);
    const json::array server = before && before->is_array() ? before->get_array() : json::array();
    if (patch) {
      if (patch->is_array())
        PLIM_CHECK(check_order(name, patch->get_array(), order.get_array(), key));
      PLIM_CHECK(merge_member(members, out, name, *patch));
    }
    json::value* list = out.if_contains(name);
    if (list && list->is_array())
      *list = order_elements(std::move(list->get_array()), order.get_array(), server, key);
    return {};
  }

  // Rejects a patch with elements that the order lacks, or has in another order.
  static Result<void> check_order(std::string_view name, const json::array& patch,
                                  const json::array& order, std::string_view key) {
    auto wanted = order.begin();
    for (const json::value& element : patch) {
      if (find(element, {kPatch})) continue;
      const auto identity = identity_of(element, key);
      while (wanted != order.end() && identity_of(*wanted, key) != identity) ++wanted;
      if (wanted == order.end() || !identity)
        return refused(fmt::format("The order in patch list of {} doesn't match {}{} list", name,
                                   kOrder, name));
    }
    return {};
  }

  static Result<void> delete_values(json::object& out, std::string_view name,
                                    const json::value& values) {
    if (!values.is_array())
      return refused(fmt::format("the elements to delete from {} are not a list", name));
    json::value* list = out.if_contains(name);
    if (!list || !list->is_array()) return {};
    std::unordered_set<std::string> gone;
    for (const json::value& value : values.get_array()) gone.insert(to_json(value));
    erase_elements(list->get_array(), "", gone);
    return {};
  }

  static Result<void> retain_keys(json::object& out, const json::object& patch) {
    const json::value* found = patch.if_contains(kRetainKeys);
    if (!found) return {};
    if (!found->is_array()) return refused("$retainKeys is not a list");
    const json::array& keys = found->get_array();
    auto retained = [&keys](std::string_view key) {
      return std::find(keys.begin(), keys.end(), json::value(key)) != keys.end();
    };
    for (const json::key_value_pair& change : patch) {
      if (!change.value().is_null() && !is_directive(change.key()) && !retained(change.key()))
        return refused(fmt::format("{} is set, but not one of $retainKeys", quote(change.key())));
    }
    for (auto member = out.begin(); member != out.end();)
      member = retained(member->key()) ? member + 1 : out.stable_erase(member);
    return {};
  }
};

}  // namespace

Result<json::value> apply_strategic_merge(const Type& type, json::value object,
                                          const json::value& patch) {
  if (!patch.is_object()) return refused("a strategic merge patch must be an object");
  if (!object.is_object()) object.emplace_object();
  return Merger().merge_objects({.type = &type}, std::move(object), patch.get_object());
}

}  // namespace plim::local::apiserver
