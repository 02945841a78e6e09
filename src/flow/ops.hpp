// The functions of the built-in operations, for the table of operations.
#pragma once

#include "flow/op.hpp"

namespace plim::flow {

Result<std::unique_ptr<Slicer>> make_generator_slicer(const ReaderSetup& setup);
Result<std::unique_ptr<Fetcher>> make_generator(const json::object& options);
void check_generator(const json::object& options, std::string_view path, Problems& problems);

Result<std::unique_ptr<Slicer>> make_file_slicer(const ReaderSetup& setup);
Result<std::unique_ptr<Fetcher>> make_file_fetcher(const json::object& options);
void check_file_reader(const json::object& options, std::string_view path, Problems& problems);

Result<std::unique_ptr<Operation>> make_filter(const json::object& options);
void check_filter(const json::object& options, std::string_view path, Problems& problems);

Result<std::unique_ptr<Operation>> make_set_field(const json::object& options);
Result<std::unique_ptr<Operation>> make_copy_field(const json::object& options);
Result<std::unique_ptr<Operation>> make_drop_field(const json::object& options);

Result<std::unique_ptr<Operation>> make_jq(const json::object& options);
void check_jq(const json::object& options, std::string_view path, Problems& problems);
Result<std::unique_ptr<Operation>> make_exec(const json::object& options);

Result<std::unique_ptr<Operation>> make_noop(const json::object& options);
Result<std::unique_ptr<Operation>> make_delay(const json::object& options);
Result<std::unique_ptr<Operation>> make_stdout(const json::object& options);
Guarantee stdout_guarantee(const json::object& options);

Result<std::unique_ptr<Operation>> make_file_exporter(const json::object& options);
void check_file_exporter(const json::object& options, std::string_view path, Problems& problems);
Guarantee file_exporter_guarantee(const json::object& options);

}  // namespace plim::flow
