// Any bytes as a record: looking at its fields and patching it never crashes, and a record that a
// strict parser takes stays one.
#include <cstdint>
#include <string_view>

#include "flow/fields.hpp"
#include "flow/jq_native.hpp"
#include "flow/ops.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plim;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static flow::FieldReader reader;
  static const auto condition = flow::recognise_condition(".a >= 1 and .b == \"x\"");
  (void)flow::recognise_condition(text);
  flow::Batch batch;
  flow::Record record = batch.arena.copy(text);
  std::vector<flow::Member> members;
  std::string scratch;
  double number = 0;
  for (const char* path : {"a", "b", "a.b"}) {
    flow::Field field = reader.find(record, flow::FieldPath(path));
    (void)flow::text_of(field, scratch);
    (void)flow::number_of(field, number);
  }
  (void)condition->test(record, reader);
  if (!reader.members(record, members)) return 0;
  const bool valid = parse_json(text).has_value();
  const json::object options{{"field", "a"}, {"value", 1}, {"overwrite", true}};
  for (auto make : {flow::make_set_field, flow::make_drop_field}) {
    batch.records = {record};
    flow::SliceContext context(system_clock());
    auto operation = make(options);
    PLIM_ASSERT(operation);
    if ((*operation)->process(context, batch) && valid) PLIM_ASSERT(parse_json(batch.records[0]));
  }
  return 0;
}
