"""Who may judge in a pool: links that let in so many people for so long, accounts, and a list that can be changed."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connections
from django.utils import timezone

from judging.errors import UserError
from judging.models import Assignment, Invitation, Judge, Judgment, LeaseState, Pool
from judging.steps import people, serve
from judging.steps.judgments import Said
from judging.steps.lookup import judge_of
from tests.factories import make_collection, make_judgment, make_person, make_pool

pytestmark = pytest.mark.django_db

PASSWORD = "a long and odd one"


@pytest.fixture
def pool():
    return make_pool(make_collection(documents=["d1", "d2", "d3"], queries=["q1", "q2"]), depth=3)


def invite(pool, days=7, seats=2):
    return people.invite(pool=pool, days=days, seats=seats).token


def sign_up(token, name):
    return people.sign_up(token=token, name=name, password=PASSWORD)


def listed(pool):
    return sorted(pool.annotators.values_list("name", flat=True))


def test_who_signs_up_has_an_account_and_is_on_the_pools_list(pool):
    user = sign_up(invite(pool), "ann")
    assert user.check_password(PASSWORD)
    assert not user.is_staff
    assert listed(pool) == ["ann"]
    assert list(Pool.objects.open_to(judge_of(user))) == [pool]


def test_a_token_is_long_and_only_its_hash_is_kept(pool):
    token = invite(pool)
    assert len(token) == 43
    assert invite(pool) != token
    assert token not in str(list(Invitation.objects.values()))


def test_an_account_joins_as_it_is_and_takes_one_seat_however_often_it_presses(pool):
    token, ann = invite(pool), make_person("ann")
    for _ in range(2):
        assert people.join(token=token, user=ann.user) == pool
    assert Invitation.objects.get().uses == 1
    assert listed(pool) == ["ann"]


def test_a_link_lets_in_as_many_as_it_has_seats(pool):
    token = invite(pool, seats=2)
    for name in ("ann", "bob"):
        sign_up(token, name)
    with pytest.raises(people.InvitationError, match="As many people as this link is for have used it"):
        sign_up(token, "cleo")
    assert not User.objects.filter(username="cleo").exists()
    people.join(token=token, user=User.objects.get(username="ann"))


def test_an_expired_link_says_until_when_it_was_good(pool):
    token = invite(pool)
    Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    with pytest.raises(people.InvitationError, match=r"good until .*20\d\d\. Ask whoever sent it"):
        people.invitation_of(token)
    with pytest.raises(people.InvitationError):
        sign_up(token, "ann")
    assert not User.objects.exists()


def test_a_withdrawn_link_lets_nobody_in_and_puts_nobody_out(pool):
    token = invite(pool)
    sign_up(token, "ann")
    people.revoke(invitation=Invitation.objects.get())
    with pytest.raises(people.InvitationError, match="withdrawn"):
        sign_up(token, "bob")
    assert listed(pool) == ["ann"]


def test_a_link_that_was_not_copied_whole_is_unknown(pool):
    token = invite(pool)
    for wrong in (token[:-1], token + "=", token.upper(), "", "é"):
        with pytest.raises(people.InvitationError, match="copied whole"):
            people.invitation_of(wrong)


def test_a_closed_pool_takes_nobody_in(pool):
    token = invite(pool)
    Pool.objects.update(status=Pool.Status.CLOSED)
    with pytest.raises(people.InvitationError, match="closed"):
        sign_up(token, "ann")


@pytest.mark.parametrize(("days", "seats"), [(0, 1), (91, 1), (1, 0), (1, 501)])
def test_a_link_has_its_limits(pool, days, seats):
    with pytest.raises(UserError, match="Expected 1 to"):
        invite(pool, days, seats)


@pytest.mark.django_db(transaction=True)
def test_the_last_seat_is_one_persons_who_ever_press_at_the_same_moment(pool):
    token = invite(pool, seats=1)
    users = [make_person().user for _ in range(6)]
    start, came_in = threading.Barrier(len(users)), []

    def press(user):
        try:
            start.wait()
            came_in.append(people.join(token=token, user=user))
        except people.InvitationError:
            pass
        finally:
            connections.close_all()

    threads = [threading.Thread(target=press, args=(user,)) for user in users]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(came_in) == Invitation.objects.get().uses == pool.annotators.count() == 1


def test_a_name_is_taken_in_whatever_case_and_also_by_imported_labels(pool):
    make_person("Ann")
    Judge.objects.create(kind="person", name="Ben")
    assert people.is_taken("ann")
    assert people.is_taken("ben")
    assert not people.is_taken("cleo")


def test_a_pool_without_a_list_is_everybodys_and_with_one_only_theirs(pool):
    ann, bob = make_person("ann"), make_person("bob")
    assert set(Pool.objects.open_to(bob)) == {pool}
    people.add(pool=pool, name="ann")
    assert not Pool.objects.open_to(bob).exists()
    assert Pool.objects.open_to(ann).exists()
    people.open_to_everybody(pool=pool)
    assert Pool.objects.open_to(bob).exists()


def test_the_first_one_listed_brings_those_who_have_begun(pool):
    begun, idle, imported = make_person("begun"), make_person("idle"), Judge.objects.create(kind="person", name="ada")
    serve.next_pair(pool=pool, annotator=begun)
    free = Assignment.objects.filter(state=LeaseState.FREE).first()
    Assignment.objects.filter(pk=free.pk).update(state="done", annotator=imported, answered_at=timezone.now())
    people.add(pool=pool, name=make_person("new").name)
    assert listed(pool) == ["begun", "new"]
    assert not Pool.objects.open_to(idle).exists()


def test_who_is_removed_keeps_their_answers_and_holds_nothing(pool):
    ann, bob = make_person("ann"), make_person("bob")
    for name in ("ann", "bob"):
        people.add(pool=pool, name=name)
    pair = serve.next_pair(pool=pool, annotator=ann)
    serve.answer(pair=pair, annotator=ann, said=Said("graded", 1))
    assert people.remove(pool=pool, annotator=ann) == 2
    assert listed(pool) == ["bob"]
    assert Judgment.objects.get(judge=ann).grade == 1
    assert Assignment.objects.get(annotator=ann).state == LeaseState.DONE
    assert people.remove(pool=pool, annotator=ann) == 0
    with pytest.raises(UserError, match="bob is the last one"):
        people.remove(pool=pool, annotator=bob)


def test_an_account_is_made_with_a_password_that_can_be_read_out(pool):
    account = people.create_account(pool=pool, name="ann")
    assert account.user.check_password(account.password)
    assert len(account.password) == 14
    assert not set(account.password) & set("l1O0oI")
    assert listed(pool) == ["ann"]


def test_an_account_made_by_the_lead_takes_over_the_labels_imported_under_its_name(pool):
    imported = Judge.objects.create(kind="person", name="ada")
    make_judgment(imported, pool.collection, "q1", "d1", 1)
    people.create_account(pool=pool, name="ada")
    assert pool.annotators.get() == imported


def test_names_that_cannot_be_are_refused_and_leave_nothing(pool):
    make_person("ann")
    for name in ("ann", "", "a b", "x" * 151):
        with pytest.raises(UserError):
            people.create_account(pool=pool, name=name)
    with pytest.raises(UserError, match="no account “nobody”"):
        people.add(pool=pool, name="nobody")
    User.objects.filter(username="ann").update(is_active=False)
    with pytest.raises(UserError, match="no account “ann”"):
        people.add(pool=pool, name="ann")
    assert listed(pool) == []
    assert User.objects.count() == 1
