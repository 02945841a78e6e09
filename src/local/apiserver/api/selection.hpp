// The objects of a list or a watch: namespace, label selector, field selector.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/selector.hpp"
#include "local/apiserver/api/error.hpp"
#include "local/apiserver/api/kinds.hpp"

namespace plim::local::apiserver {

// A field that selectors may use: its name, its path in a stored object, and its value if it is
// absent.
struct SelectableField {
  std::string field;
  std::string path;
  std::string fallback = {};
};

// The value of a field in a stored object, "" if it is absent.
std::string field_text(std::string_view bytes, const std::vector<std::string>& path);

class ObjectFacts;

class Selection {
 public:
  Selection() = default;
  // 400 for syntax errors and for fields that the kind does not support.
  static ApiResult<Selection> parse(const Kind& kind, std::string_view ns, std::string_view labels,
                                    std::string_view fields);

  // The common prefix of the keys: of the kind, of a namespace, or the key of one object.
  const std::string& prefix() const { return prefix_; }

  bool is_one_object() const { return !prefix_.ends_with('/'); }

  // True if every object below the prefix matches.
  bool is_everything() const { return labels_.empty() && fields_.empty(); }

  // The value that a field must have; "" for any.
  std::string_view required(std::string_view field) const;
  bool matches(std::string_view bytes) const;
  // The same, using facts that other selections share.
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
