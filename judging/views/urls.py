"""Addresses: annotators' pages and the lead's."""

from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import LoginView, LogoutView
from django.urls import path
from django.views.i18n import set_language

from judging.views import agreement, annotate, disagreements, join, judges, lead, pools

urlpatterns = [
    path("", annotate.home, name="home"),
    path("login/", LoginView.as_view(template_name="login.html", redirect_authenticated_user=True), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("password/", join.ChangePassword.as_view(), name="password"),
    path("join/<str:token>/", join.join, name="join"),
    path("language/", login_not_required(set_language), name="set_language"),
    path("pools/<slug:slug>/judge/", annotate.judge, name="judge"),
    path("pools/<slug:slug>/judge/<int:pair_id>/", annotate.answer, name="answer"),
    path("pools/<slug:slug>/judge/<int:pair_id>/skip/", annotate.skip, name="skip"),
    path("pools/<slug:slug>/training/<int:pair_id>/", annotate.train, name="train"),
    path("pools/<slug:slug>/heartbeat/", annotate.heartbeat, name="heartbeat"),
    path("pools/<slug:slug>/leave/", annotate.leave, name="leave"),
    path("pools/<slug:slug>/mine/", annotate.mine, name="mine"),
    path("collections/", lead.overview, name="overview"),
    path("collections/<slug:slug>/", lead.collection, name="collection"),
    path("collections/<slug:slug>/evaluation/", lead.evaluation, name="evaluation"),
    path("collections/<slug:slug>/export/", lead.export, name="export"),
    path("collections/<slug:slug>/export/download/", lead.export_download, name="export-download"),
    path("collections/<slug:slug>/judges/", judges.judges, name="judges"),
    path("collections/<slug:slug>/judges/<int:judge_id>/", judges.judge, name="judge-details"),
    path("pools/<slug:slug>/", pools.pool, name="pool"),
    path("pools/<slug:slug>/status/", pools.status, name="pool-status"),
    path("pools/<slug:slug>/overlap/", pools.change_overlap, name="pool-overlap"),
    path("pools/<slug:slug>/release/", pools.release, name="pool-release"),
    path("pools/<slug:slug>/people/add/", pools.add_person, name="pool-add"),
    path("pools/<slug:slug>/people/remove/", pools.remove_person, name="pool-remove"),
    path("pools/<slug:slug>/people/everybody/", pools.open_to_everybody, name="pool-everybody"),
    path("pools/<slug:slug>/invitations/", pools.invite, name="pool-invite"),
    path("pools/<slug:slug>/invitations/revoke/", pools.revoke, name="pool-revoke"),
    path("pools/<slug:slug>/disagreements/", disagreements.disagreements, name="disagreements"),
    path("pools/<slug:slug>/adjudicate/", disagreements.adjudication, name="adjudication"),
    path("pools/<slug:slug>/adjudicate/<int:pair_id>/", disagreements.verdict, name="verdict"),
    path("pools/<slug:slug>/agreement/", agreement.agreement, name="agreement"),
    path("pools/<slug:slug>/agreement/pairs/", agreement.pairs, name="agreement-pairs"),
    path("pools/<slug:slug>/agreement/<slug:name>.<slug:form>", agreement.plot, name="agreement-plot"),
    path("pools/<slug:slug>/found/", agreement.found, name="found"),
    path("pools/<slug:slug>/found.<slug:form>", agreement.found_file, name="found-file"),
    path("pools/<slug:slug>/report/", agreement.report, name="report"),
    path("collections/<slug:slug>/agreement/", agreement.agreement, {"of": "collection"}, name="collection-agreement"),
    path(
        "collections/<slug:slug>/agreement/pairs/",
        agreement.pairs,
        {"of": "collection"},
        name="collection-agreement-pairs",
    ),
    path(
        "collections/<slug:slug>/agreement/<slug:name>.<slug:form>",
        agreement.plot,
        {"of": "collection"},
        name="collection-agreement-plot",
    ),
]
