// Which objects a list or a watch is about: namespace, label selector, field selector.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/selector.hpp"
#include "local/apiserver/api/error.hpp"
#include "local/apiserver/api/kinds.hpp"

namespace plim::local::apiserver {

// A field that selectors may name, where its value is in a stored object, and what it is when
// absent.
struct SelectableField {
  std::string field;
  std::string path;
  std::string fallback = {};
};

// The text of a field of a stored object, "" when it has none.
std::string field_text(std::string_view bytes, const std::vector<std::string>& path);

class ObjectFacts;

class Selection {
 public:
  Selection() = default;
  // 400 for bad grammar and for fields the kind does not offer.
  static ApiResult<Selection> parse(const Kind& kind, std::string_view ns, std::string_view labels,
                                    std::string_view fields);

  // Where its objects' keys lie: the kind's, a namespace's, or those of one object.
  const std::string& prefix() const { return prefix_; }

  bool is_one_object() const { return !prefix_.ends_with('/'); }

  // Every object below the prefix belongs to it.
  bool is_everything() const { return labels_.empty() && fields_.empty(); }

  // The value that a field must have; "" if it may have any.
  std::string_view required(std::string_view field) const;
  bool matches(std::string_view bytes) const;
  // The same for an object that others ask about too.
  bool matches(ObjectFacts& facts) const;

 private:
  struct FieldTest {
    std::vector<std::string> path = {};
    std::string fallback = {};
    bool equals = true;
    std::string value = {};
  };

  std::string prefix_;
  std::vector<kube::LabelRequirement> labels_;
  std::vector<FieldTest> fields_;
  std::vector<kube::FieldRequirement> asked_;
};

}  // namespace plim::local::apiserver
