// The functions of the commands in the table, one per command.
#pragma once

#include "cli/failures.hpp"

namespace plim::cli {

struct Context;

Outcome<int> run_up(Context& context);
Outcome<int> run_down(Context& context);
Outcome<int> run_status(Context& context);
Outcome<int> run_reset(Context& context);
Outcome<int> run_node_add(Context& context);
Outcome<int> run_node_rm(Context& context);
Outcome<int> run_node_stop(Context& context);
Outcome<int> run_node_start(Context& context);
Outcome<int> run_node_ls(Context& context);
Outcome<int> run_node_exec(Context& context);
Outcome<int> run_node_cp(Context& context);
Outcome<int> run_images(Context& context);
Outcome<int> run_images_load(Context& context);
Outcome<int> run_images_rm(Context& context);
Outcome<int> run_images_pull(Context& context);
Outcome<int> run_store_dump(Context& context);
Outcome<int> run_store_verify(Context& context);
Outcome<int> run_store_compact(Context& context);
Outcome<int> run_agent(Context& context);
Outcome<int> run_agent_check(Context& context);
Outcome<int> run_agent_top(Context& context);
Outcome<int> run_pools(Context& context);
Outcome<int> run_pools_agent(Context& context);
Outcome<int> run_pools_validate(Context& context);
Outcome<int> run_pools_install_starter(Context& context);
Outcome<int> run_pools_schema(Context& context);
Outcome<int> run_starter(Context& context);
Outcome<int> run_install(Context& context);
Outcome<int> run_uninstall(Context& context);
Outcome<int> run_webhook(Context& context);
Outcome<int> run_webhook_certs(Context& context);
Outcome<int> run_scheduler(Context& context);
Outcome<int> run_servo(Context& context);
Outcome<int> run_servo_path_test(Context& context);
Outcome<int> run_runs(Context& context);
Outcome<int> run_flow_run(Context& context);
Outcome<int> run_flow_validate(Context& context);
Outcome<int> run_flow_ops(Context& context);
Outcome<int> run_version(Context& context);
Outcome<int> run_doctor(Context& context);
Outcome<int> run_raw(Context& context);
Outcome<int> run_explain_pod(Context& context);
Outcome<int> run_explain_error(Context& context);
Outcome<int> run_completion(Context& context);
Outcome<int> run_man(Context& context);
Outcome<int> run_options(Context& context);
Outcome<int> run_help(Context& context);
// Hidden. Takes the words of an unfinished command line and prints the candidates for the last
// word.
Outcome<int> run_complete(Context& context);

}  // namespace plim::cli
