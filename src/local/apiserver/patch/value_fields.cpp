// The fields that a value sets, and those that differ from another value.
#include <map>

#include <fmt/format.h>

#include "local/apiserver/patch/value_type.hpp"

namespace plim::local::apiserver {
namespace {

using Kind = ValueType::Kind;

// 1 and 1.0 are equal in Kubernetes.
bool same_value(const json::value& a, const json::value& b) {
  return a == b || (a.is_number() && b.is_number() && to_json(a) == to_json(b));
}

enum class Rigour { strict, lenient };

class Collector {
 public:
  explicit Collector(Rigour rigour) : rigour_(rigour) {}

  FieldSet collect(const ValueType& type, const json::value& value, const std::string& path) {
    FieldSet out;
    const Kind kind = type.kind_for(value);
    if (kind == Kind::whole) {
      out.owned = true;
    } else if (kind == Kind::set || kind == Kind::keyed) {
      collect_elements(type, value.get_array(), path, out);
    } else {
      for (const json::key_value_pair& member : value.get_object()) {
        const std::string here = path + "." + std::string(member.key());
        if (!type.knows(member.key())) note(here + ": field not declared in schema");
        FieldSet fields = collect(type.member(member.key()), member.value(), here);
        // An empty list owns nothing, not even itself.
        if (!fields.empty())
          out.members.emplace("f:" + std::string(member.key()), std::move(fields));
      }
      if (value.get_object().empty()) out.owned = true;
    }
    return out;
  }

  const std::string& mistake() const { return mistake_; }

 private:
  void collect_elements(const ValueType& type, const json::array& list, const std::string& path,
                        FieldSet& out) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      auto element = type.path_element(list[i]);
      if (!element) {
        note(fmt::format("{}: element {}: {}", path, i, element.error().message));
        continue;
      }
      FieldSet fields = collect(type.element(), list[i], fmt::format("{}[{}]", path, i));
      fields.owned = true;
      const bool is_new = out.members.emplace(*element, std::move(fields)).second;
      if (!is_new)
        note(fmt::format("{}: duplicate entries for key [{}]", path, element->substr(2)));
    }
  }

  void note(std::string mistake) {
    if (rigour_ == Rigour::strict && mistake_.empty()) mistake_ = std::move(mistake);
  }

  Rigour rigour_;
  std::string mistake_;
};

}  // namespace

Result<FieldSet> fields_of(const ValueType& type, const json::value& value) {
  Collector collector(Rigour::strict);
  FieldSet out = collector.collect(type, value, "");
  if (!collector.mistake().empty()) return fail(Code::bad_request, collector.mistake());
  return out;
}

FieldSet fields_of_stored(const ValueType& type, const json::value& value) {
  return Collector(Rigour::lenient).collect(type, value, "");
}

FieldSet changed_fields(const ValueType& type, const json::value& before,
                        const json::value& after) {
  const Kind kind = type.kind_for(after);
  if (kind != type.kind_for(before)) return fields_of_stored(type, after);
  FieldSet out;
  auto add = [&out](std::string element, FieldSet changed) {
    if (!changed.empty()) out.members.emplace(std::move(element), std::move(changed));
  };
  if (kind == Kind::whole) {
    out.owned = !same_value(before, after);
  } else if (kind == Kind::set || kind == Kind::keyed) {
    std::map<std::string, const json::value*> old;
    for (const json::value& element : before.get_array())
      if (auto key = type.path_element(element)) old.emplace(std::move(*key), &element);
    for (const json::value& element : after.get_array()) {
      auto key = type.path_element(element);
      if (!key) continue;
      auto found = old.find(*key);
      FieldSet changed = found == old.end()
                             ? fields_of_stored(type.element(), element)
                             : changed_fields(type.element(), *found->second, element);
      changed.owned = changed.owned || found == old.end();
      add(std::move(*key), std::move(changed));
    }
  } else {
    for (const json::key_value_pair& member : after.get_object()) {
      const ValueType inner = type.member(member.key());
      const json::value* old = before.get_object().if_contains(member.key());
      add("f:" + std::string(member.key()), old ? changed_fields(inner, *old, member.value())
                                                : fields_of_stored(inner, member.value()));
    }
  }
  return out;
}

}  // namespace plim::local::apiserver
